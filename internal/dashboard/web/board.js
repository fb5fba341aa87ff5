// What moves on the dashboard between two answers of the server: the clock. And the line on which the server says that
// something changed; htmx then asks for the board anew. Without this script the page reloads by itself now and then.
"use strict";
(() => {
  const board = () => document.getElementById("board");
  let ahead = 0; // of the server's clock before ours, in milliseconds

  const two = (n) => String(n).padStart(2, "0");
  const span = (s) =>
    s < 60 ? `${s}s`
    : s < 3600 ? `${Math.floor(s / 60)}m ${two(s % 60)}s`
    : s < 86400 ? `${Math.floor(s / 3600)}h ${two(Math.floor(s / 60) % 60)}m`
    : `${Math.floor(s / 86400)}d ${Math.floor(s / 3600) % 24}h`;
  const distance = (s) => (s > 0 ? "in " + span(s) : s > -1 ? "now" : span(-s) + " ago");

  // The same arithmetic as boardScale.at.
  const place = (t, [start, focus, end, fold]) =>
    t <= start ? 0
    : t <= focus ? (fold * (t - start)) / (focus - start)
    : t < end ? fold + ((100 - fold) * (t - focus)) / (end - focus)
    : 100;

  function tick() {
    const now = Date.now() + ahead;
    for (const e of document.querySelectorAll("time[data-at]")) {
      const words = distance(Math.round((Number(e.dataset.at) - now) / 1000));
      if (e.textContent !== words) e.textContent = words;
    }
    let outgrown = false;
    for (const line of document.querySelectorAll(".line.moving")) {
      const scale = line.dataset.scale.split(" ").map(Number);
      const x = place(now, scale);
      for (const e of line.querySelectorAll("[data-rides]")) e.setAttribute("x", x + "%");
      for (const e of line.querySelectorAll("[data-from]")) {
        e.setAttribute("width", Math.max(x - place(Number(e.dataset.from), scale), 0.6) + "%");
      }
      const plot = line.querySelector(".plot"), wide = plot.clientWidth || plot.getBoundingClientRect().width;
      for (const e of line.querySelectorAll(".tick")) {
        e.classList.toggle("under", Math.abs(parseFloat(e.getAttribute("x")) - x) * wide < 3400); // now stands there
      }
      outgrown ||= now > scale[1];
    }
    if (outgrown) refresh(10000);
  }

  // At most one question at a time, and no more than the page bears. An earlier one takes the place of a later one.
  let asked = 0, due = 0, timer = 0;
  function refresh(every) {
    if (!board().dataset.events) return;
    const at = Math.max(Date.now(), asked + Math.max(every, Number(board().dataset.every)));
    if (document.hidden || (timer && due <= at)) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(() => {
      timer = 0;
      asked = Date.now();
      window.htmx.trigger(board(), "refresh");
    }, at - Date.now());
  }

  const link = document.getElementById("link");
  function say(state, words) {
    if (link.dataset.state === state) return;
    link.dataset.state = state;
    link.querySelector(".words").textContent = words;
  }

  let stream = null, retry = 0, heard = "";
  function listen() {
    clearTimeout(retry);
    stream?.close();
    heard = board().dataset.events ?? "";
    if (!heard) return say("off", "Not live"); // what is not there stays as it is
    stream = new EventSource(heard);
    stream.onopen = () => {
      say("live", "Live");
      refresh(0); // what happened since the page was made, or while we were away
    };
    stream.addEventListener("changed", () => refresh(0));
    stream.onerror = () => {
      say("off", "Disconnected, trying again");
      // A browser tries again by itself unless it was told off with a status.
      if (stream.readyState === EventSource.CLOSED) retry = setTimeout(listen, 5000);
    };
  }
  // A page that nobody sees listens to nothing: browsers have few lines to one server.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return listen();
    clearTimeout(retry);
    stream?.close();
  });
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", (e) => e.persisted && listen());

  function sync() {
    ahead = Number(board().dataset.now) - Date.now();
    tick();
    if (!document.hidden && (board().dataset.events ?? "") !== heard) listen(); // another page took the place
  }
  // A filter holds as soon as it is chosen; without this script the button sends it.
  document.querySelector(".filters")?.addEventListener("change", () => document.getElementById("find").requestSubmit());

  // What the reader has unfolded stays so when the board is made anew.
  let unfolded = [];
  document.body.addEventListener("htmx:beforeSwap", () => {
    unfolded = [...document.querySelectorAll("#board details[open]")].map((e) => e.id);
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  });
  document.body.addEventListener("htmx:afterSettle", sync);
  sync();
  setInterval(tick, 1000);
})();
