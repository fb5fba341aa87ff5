(() => {
	const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const light = (s) => { const [r, g, b] = rgb(s); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b) };
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] === 1) return "rgb(" + c.slice(0, 3) + ")";
		}
		return "rgb(255,255,255)";
	};
	const pale = [];
	for (const e of document.querySelectorAll("body *:not(script):not(style)")) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
		if (!e.getClientRects().length || e.closest("svg title, .unseen, .skip, .now, symbol")) continue;
		const style = getComputedStyle(e), a = light(e.ownerSVGElement ? style.fill : style.color), b = light(ground(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio >= 4.5) continue;
		pale.push([e.tagName, e.getAttribute("class") || "", ratio.toFixed(2), e.textContent.trim().slice(0, 30)].join(" "));
	}
	return [...new Set(pale)].join("; ");
})()
