package coordinator_test

// What deploy/ holds fits the program and the laws of a container: no cluster, no Docker and no network is asked.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github/client"
	reviewing "github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	alertsFile     = "deploy/alerts/review-coordinator.rules.yml"
	alertsTestFile = "deploy/alerts/review-coordinator.test.yml"
	boardFile      = "deploy/grafana/review-coordinator.json"
	composeFile    = "deploy/compose/compose.yaml"
	deploymentFile = "deploy/kubernetes/deployment.yaml"
)

// An alert is a rule of alertsFile.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readAlerts(t *testing.T) []alert {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	readYAML(t, alertsFile, &file)
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 8 {
		t.Fatalf("%s: %d groups", alertsFile, len(file.Groups))
	}
	return file.Groups[0].Rules
}

// alertTests is alertsTestFile, which promtool plays.
type alertTests struct {
	Tests []struct {
		Series []struct {
			Series string `yaml:"series"`
		} `yaml:"input_series"`
		Alerts []struct {
			Name     string `yaml:"alertname"`
			Expected []struct {
				Labels map[string]string `yaml:"exp_labels"`
			} `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	} `yaml:"tests"`
}

// board is boardFile, as far as it asks for figures.
type board struct {
	Panels []struct {
		ID          int    `json:"id"`
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Targets     []struct {
			Expr   string `json:"expr"`
			Legend string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
	Templating struct {
		List []struct {
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

func readBoard(t *testing.T) (b board) {
	t.Helper()
	text, err := os.ReadFile(boardFile)
	must(t, err)
	must(t, json.Unmarshal(text, &b))
	return b
}

// figures are what a daemon shows once something of each kind has happened: the values of each label, by the name of the series.
type figures map[string]map[string][]string

var (
	shownSeries = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? \S+$`)
	askedSeries = regexp.MustCompile(`\b((?:coordinator|process|go)_[a-z_]+)(?:\{([^}]*)\})?`)
	labelMatch  = regexp.MustCompile(`([a-z_]+)(=~|!=|=)"((?:[^"\\]|\\.)*)"`)
	groupedBy   = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	legendLabel = regexp.MustCompile(`\{\{ *(?:\$labels\.)?([a-z_]+) *\}\}`)
)

// ofPrometheus are the labels that a scrape adds.
var ofPrometheus = []string{"job", "instance"}

func readFigures(t *testing.T) figures {
	t.Helper()
	metrics := daemon.NewMetrics(daemon.MetricsOptions{
		Presets: reviewing.Presets(),
		Heard: func(context.Context) (map[string]store.HeardCount, error) {
			return map[string]store.HeardCount{"copilot": {Answers: 1}, "": {Answers: 1}}, nil
		},
		Budgets: func() map[int64]client.Budget {
			return map[int64]client.Budget{7: {Left: 10, Limit: 20, Reset: time.Now()}}
		},
	})
	for _, result := range []string{"accepted", "duplicate", "ignored", "refused", "malformed", "failed"} {
		metrics.Delivered("push", result)
	}
	metrics.Decided("passed")
	metrics.Reran("done")
	metrics.CircuitOpened(true)
	metrics.Asked("GET /app", http.StatusOK, time.Second)
	answer := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	known := figures{}
	for line := range strings.Lines(answer.Body.String()) {
		m := shownSeries.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		if known[m[1]] == nil {
			known[m[1]] = map[string][]string{}
		}
		for _, label := range labelMatch.FindAllStringSubmatch(m[2], -1) {
			known[m[1]][label[1]] = append(known[m[1]][label[1]], label[3])
		}
	}
	if runtime.GOOS != "linux" { // elsewhere a process tells less of itself
		known["process_cpu_seconds_total"], known["process_resident_memory_bytes"] = map[string][]string{}, map[string][]string{}
	}
	if len(known) < 50 {
		t.Fatalf("the daemon shows only %d series:\n%s", len(known), answer.Body)
	}
	return known
}

// wrongs are what expr asks for that no daemon shows; legend is what is written beside it.
func (f figures) wrongs(expr, legend string) (found []string) {
	labels := slices.Clone(ofPrometheus)
	for _, asked := range askedSeries.FindAllStringSubmatch(expr, -1) {
		shown, known := f[asked[1]]
		if !known {
			found = append(found, "there is no figure "+asked[1])
		}
		for label := range shown {
			labels = append(labels, label)
		}
		for _, m := range labelMatch.FindAllStringSubmatch(asked[2], -1) {
			values, labelled := shown[m[1]]
			switch {
			case slices.Contains(ofPrometheus, m[1]):
			case !labelled:
				found = append(found, asked[1]+" has no label "+m[1])
			case m[2] == "=" && !slices.Contains(values, m[3]):
				found = append(found, fmt.Sprintf("no %s of %s is %q", m[1], asked[1], m[3]))
			}
		}
	}
	for _, m := range groupedBy.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(m[1], ",") {
			if !slices.Contains(labels, strings.TrimSpace(label)) {
				found = append(found, "nothing has the label "+label)
			}
		}
	}
	for _, m := range legendLabel.FindAllStringSubmatch(legend, -1) {
		if !slices.Contains(labels, m[1]) {
			found = append(found, "nothing has the label "+m[1])
		}
	}
	return found
}

// The board and the alerts name only figures, labels and values that the daemon really registers.
func TestDeployNamesRealFigures(t *testing.T) {
	known := readFigures(t)
	for _, a := range readAlerts(t) {
		for _, wrong := range known.wrongs(a.Expr, a.Annotations["summary"]) {
			t.Errorf("%s: %s: %s", alertsFile, a.Alert, wrong)
		}
	}
	var played alertTests
	readYAML(t, alertsTestFile, &played)
	for _, test := range played.Tests {
		for _, s := range test.Series {
			for _, wrong := range known.wrongs(s.Series, "") {
				t.Errorf("%s: %s: %s", alertsTestFile, s.Series, wrong)
			}
		}
	}
	asked := 0
	b := readBoard(t)
	for _, p := range b.Panels {
		for _, target := range p.Targets {
			asked++
			for _, wrong := range known.wrongs(target.Expr, target.Legend) {
				t.Errorf("%s: %s: %s", boardFile, p.Title, wrong)
			}
			if !strings.Contains(target.Expr, `job=~"$job"`) {
				t.Errorf("%s: %s does not keep to the job that was chosen", boardFile, p.Title)
			}
		}
	}
	for _, v := range b.Templating.List {
		for _, wrong := range known.wrongs(v.Definition, "") {
			t.Errorf("%s: %s", boardFile, wrong)
		}
	}
	if asked < 25 {
		t.Errorf("%s asks for %d figures", boardFile, asked)
	}
	for expr, says := range map[string]string{
		`coordinator_no_such_total > 0`:                                   "no figure",
		`coordinator_webhook_deliveries_total{outcome="failed"}`:          "no label",
		`coordinator_webhook_deliveries_total{result="lost"}`:             "no result",
		`sum by (reason) (coordinator_webhook_deliveries_total)`:          "nothing has the label reason",
		`rate(coordinator_webhook_accept_duration_seconds_total[5m])`:     "no figure",
		`coordinator_task_failures_total{job="a", reason="unauthorised"}`: "no reason",
	} {
		if found := strings.Join(known.wrongs(expr, ""), "; "); !strings.Contains(found, says) {
			t.Errorf("%s passes: %q", expr, found)
		}
	}
}

// Each alert says what to do, and promtool plays a day on which it fires and one on which it is silent.
func TestEachAlertIsPlayed(t *testing.T) {
	var played alertTests
	readYAML(t, alertsTestFile, &played)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range played.Tests {
		for _, a := range test.Alerts {
			if len(a.Expected) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	for _, a := range readAlerts(t) {
		if !fires[a.Alert] || !silent[a.Alert] {
			t.Errorf("%s: %s fires %t, is silent %t", alertsTestFile, a.Alert, fires[a.Alert], silent[a.Alert])
		}
		if a.Annotations["summary"] == "" || a.Annotations["remedy"] == "" || a.Labels["severity"] == "" {
			t.Errorf("%s: %s does not say what to do, or how grave it is", alertsFile, a.Alert)
		}
		delete(fires, a.Alert)
	}
	for name := range fires {
		t.Errorf("%s plays %s, which is no alert", alertsTestFile, name)
	}
}

// Each panel of the board says what it shows, and has a number of its own.
func TestTheBoardExplainsItself(t *testing.T) {
	ids := map[int]bool{}
	for _, p := range readBoard(t).Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%s: the panel %d %q", boardFile, p.ID, p.Title)
		}
		ids[p.ID] = true
	}
}

// A composeService is what the compose file says of a container.
type composeService struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Secrets     []string          `yaml:"secrets"`
	Ports       []string          `yaml:"ports"`
	User        string            `yaml:"user"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	Security    []string          `yaml:"security_opt"`
	Grace       string            `yaml:"stop_grace_period"`
}

func readCompose(t *testing.T) map[string]composeService {
	t.Helper()
	var file struct {
		Services map[string]composeService `yaml:"services"`
	}
	readYAML(t, composeFile, &file)
	return file.Services
}

// A podProbe asks a path of a container.
type podProbe struct {
	HTTPGet struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
}

// A podContainer is what the deployment says of its container.
type podContainer struct {
	Image string   `yaml:"image"`
	Args  []string `yaml:"args"`
	Env   []struct {
		Name      string `yaml:"name"`
		Value     string `yaml:"value"`
		ValueFrom struct {
			SecretKeyRef struct {
				Name string `yaml:"name"`
				Key  string `yaml:"key"`
			} `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	} `yaml:"env"`
	Ports []struct {
		Name string `yaml:"name"`
		Port int    `yaml:"containerPort"`
	} `yaml:"ports"`
	Startup   podProbe `yaml:"startupProbe"`
	Liveness  podProbe `yaml:"livenessProbe"`
	Readiness podProbe `yaml:"readinessProbe"`
	Lifecycle struct {
		PreStop struct {
			Sleep struct {
				Seconds int `yaml:"seconds"`
			} `yaml:"sleep"`
		} `yaml:"preStop"`
	} `yaml:"lifecycle"`
	Security struct {
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
}

// deployment is deploymentFile, as far as laws hold it.
type deployment struct {
	Spec struct {
		Replicas int `yaml:"replicas"`
		Template struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec struct {
				AutomountToken *bool `yaml:"automountServiceAccountToken"`
				Grace          int   `yaml:"terminationGracePeriodSeconds"`
				Security       struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
					RunAsUser    int  `yaml:"runAsUser"`
					Seccomp      struct {
						Type string `yaml:"type"`
					} `yaml:"seccompProfile"`
				} `yaml:"securityContext"`
				Spread []struct {
					Key string `yaml:"topologyKey"`
				} `yaml:"topologySpreadConstraints"`
				Containers []podContainer `yaml:"containers"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

func readDeployment(t *testing.T) (d deployment) {
	t.Helper()
	readYAML(t, deploymentFile, &d)
	if len(d.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("%s has %d containers", deploymentFile, len(d.Spec.Template.Spec.Containers))
	}
	return d
}

// ofOthers are variables that Go itself and the driver of PostgreSQL read.
var ofOthers = []string{"GOMEMLIMIT", "GOGC", "PGPASSFILE"}

// Every flag and variable that the compose file and the manifests give the program is one that it has.
func TestDeployUsesFlagsAndVariablesThatExist(t *testing.T) {
	t.Parallel()
	h, program := newHandbook(t), programText(t)
	pod, composed := readDeployment(t).Spec.Template.Spec.Containers[0], readCompose(t)["coordinator"]
	var names []string
	for _, variable := range pod.Env {
		names = append(names, variable.Name)
	}
	for name := range composed.Environment {
		names = append(names, name)
	}
	for _, name := range names {
		if !slices.Contains(ofOthers, name) && !strings.Contains(program, `"`+name+`"`) {
			t.Errorf("the program reads no variable %s", name)
		}
	}
	for file, args := range map[string][]string{deploymentFile: pod.Args, composeFile: composed.Command} {
		if len(args) == 0 || args[0] != "serve" {
			t.Errorf("%s does not serve: %q", file, args)
		}
		for _, wrong := range h.wrong(args) {
			t.Errorf("%s: %s", file, wrong)
		}
	}
	if len(names) < 6 || !slices.Contains(names, "DATABASE_URL") {
		t.Errorf("only these variables are set: %q", names)
	}
}

// The daemon in Kubernetes has no right that it does not need, gets its secrets by reference, and is asked and stopped as
// it can answer and stop.
func TestTheManifestsKeepTheLaws(t *testing.T) {
	d := readDeployment(t)
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	for law, kept := range map[string]bool{
		"runs as no root":               pod.Security.RunAsNonRoot && pod.Security.RunAsUser > 0,
		"has seccomp":                   pod.Security.Seccomp.Type == "RuntimeDefault",
		"has no token of the cluster":   pod.AutomountToken != nil && !*pod.AutomountToken,
		"does not gain rights":          c.Security.Escalation != nil && !*c.Security.Escalation,
		"writes nothing into its image": c.Security.ReadOnly,
		"drops all capabilities":        slices.Equal(c.Security.Capabilities.Drop, []string{"ALL"}),
		"is spread over nodes and zones": len(pod.Spread) == 2 && pod.Spread[0].Key == "kubernetes.io/hostname" &&
			pod.Spread[1].Key == "topology.kubernetes.io/zone",
		"has time to stop": pod.Grace >= c.Lifecycle.PreStop.Sleep.Seconds+10 && c.Lifecycle.PreStop.Sleep.Seconds > 0,
		"is asked whether it serves": c.Liveness.HTTPGet.Path == "/healthz" && c.Startup.HTTPGet.Path == "/healthz" &&
			c.Liveness.HTTPGet.Port == "admin" && c.Startup.HTTPGet.Port == "admin",
		"is asked whether it takes deliveries": c.Readiness.HTTPGet.Path == "/readyz?exclude=github&exclude=queue" &&
			c.Readiness.HTTPGet.Port == "admin",
		"has two ports": len(c.Ports) == 2 && c.Ports[0].Name == "webhook" && c.Ports[1].Name == "admin" &&
			slices.Contains(c.Args, fmt.Sprintf("--listen=0.0.0.0:%d", c.Ports[0].Port)) &&
			slices.Contains(c.Args, fmt.Sprintf("--admin-listen=0.0.0.0:%d", c.Ports[1].Port)),
	} {
		if !kept {
			t.Errorf("%s: it does not hold that the daemon %s", deploymentFile, law)
		}
	}
	for _, variable := range c.Env {
		secret := regexp.MustCompile(`SECRET|TOKEN|PASSWORD|DATABASE_URL|APP_ID|PRIVATE_KEY$`).MatchString(variable.Name)
		if secret != (variable.ValueFrom.SecretKeyRef.Name == "review-coordinator") || secret && variable.Value != "" {
			t.Errorf("%s: %s comes from %+v", deploymentFile, variable.Name, variable.ValueFrom)
		}
	}
	var budget struct {
		Spec struct {
			MinAvailable int `yaml:"minAvailable"`
			Selector     struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"selector"`
		} `yaml:"spec"`
	}
	readYAML(t, "deploy/kubernetes/poddisruptionbudget.yaml", &budget)
	if budget.Spec.MinAvailable != 1 || d.Spec.Replicas != 2 {
		t.Errorf("of %d replicas %d may not go", d.Spec.Replicas, budget.Spec.MinAvailable)
	}
	var policy struct {
		Spec struct {
			PodSelector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"podSelector"`
			Types []string `yaml:"policyTypes"`
		} `yaml:"spec"`
	}
	readYAML(t, "deploy/kubernetes/networkpolicy.yaml", &policy)
	if !slices.Equal(policy.Spec.Types, []string{"Ingress", "Egress"}) {
		t.Errorf("the network policy is of %q", policy.Spec.Types)
	}
	var service struct {
		Spec struct {
			Selector map[string]string `yaml:"selector"`
			Ports    []struct {
				Target string `yaml:"targetPort"`
			} `yaml:"ports"`
		} `yaml:"spec"`
	}
	readYAML(t, "deploy/kubernetes/service.yaml", &service)
	if len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Target != "webhook" {
		t.Errorf("the service leads to %+v: the admin port stays private", service.Spec.Ports)
	}
	label := fmt.Sprint(d.Spec.Template.Metadata.Labels)
	for _, selector := range []map[string]string{budget.Spec.Selector.MatchLabels, policy.Spec.PodSelector.MatchLabels, service.Spec.Selector} {
		if fmt.Sprint(selector) != label {
			t.Errorf("%v selects no pod with the labels %s", selector, label)
		}
	}
}

// The compose file opens nothing to others, and its daemon has no right that it does not need.
func TestTheComposeFileKeepsTheLaws(t *testing.T) {
	services := readCompose(t)
	c := services["coordinator"]
	grace, err := time.ParseDuration(c.Grace)
	if err != nil || grace < 10*time.Second {
		t.Errorf("the daemon has %s to stop", c.Grace)
	}
	if !c.ReadOnly || c.User != "65532:65532" || !slices.Equal(c.CapDrop, []string{"ALL"}) || !slices.Contains(c.Security, "no-new-privileges:true") {
		t.Errorf("the daemon has rights that it does not need: %+v", c)
	}
	for name, s := range services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s opens %s to everybody", name, port)
			}
		}
		for variable, value := range s.Environment {
			isSecret := strings.Contains(variable, "PASSWORD") || strings.Contains(variable, "PASSFILE")
			if isSecret && !strings.HasPrefix(value, "/run/secrets/") || strings.Contains(value, "${") {
				t.Errorf("%s: %s stands in the file, or in the environment", name, variable)
			}
		}
	}
	if len(services["postgres"].Ports) != 0 {
		t.Errorf("the database is open: %q", services["postgres"].Ports)
	}
}

// Both name the image of one release: between releases the last one, or the first that is to come.
func TestDeployNamesOneImage(t *testing.T) {
	const name = "ghcr.io/review-coordinator/coordinator:"
	text, err := os.ReadFile("VERSION")
	must(t, err)
	version := strings.TrimSpace(string(text))
	pod, composed := readDeployment(t).Spec.Template.Spec.Containers[0].Image, readCompose(t)["coordinator"].Image
	tag, ours := strings.CutPrefix(pod, name)
	if !ours || pod != composed || !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(tag) {
		t.Errorf("the manifests run %s, and the compose file %s", pod, composed)
	}
	if released := !strings.Contains(version, "-"); released && tag != version {
		t.Errorf("this is %s, and the manifests run %s", version, tag)
	}
}

// schemaWrong is what the schema in a file finds wrong with a YAML text; nil: nothing.
func schemaWrong(t *testing.T, schema string, text []byte) error {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(schema)
	must(t, err)
	asJSON, err := yaml.YAMLToJSON(text)
	must(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	must(t, err)
	return compiled.Validate(value)
}

// The manifests have the shape that Kubernetes asks for, and the compose file that of the specification; a key that
// nobody knows is a mistake.
func TestDeployFitsTheSchemas(t *testing.T) {
	schemas := map[string]string{composeFile: "deploy/compose/schema/compose-spec.json"}
	manifests, err := filepath.Glob("deploy/kubernetes/*.yaml")
	must(t, err)
	for _, file := range manifests {
		var object struct {
			Kind       string `yaml:"kind"`
			APIVersion string `yaml:"apiVersion"`
		}
		readYAML(t, file, &object)
		if object.Kind == "Kustomization" { // it is kubectl's own, and no object
			continue
		}
		group := strings.ReplaceAll(strings.Replace(object.APIVersion, ".k8s.io", "", 1), "/", "-")
		schemas[file] = "deploy/kubernetes/schemas/" + strings.ToLower(object.Kind) + "-" + group + ".json"
	}
	if len(schemas) < 6 {
		t.Errorf("only these have a schema: %q", schemas)
	}
	for file, schema := range schemas {
		text, err := os.ReadFile(file)
		must(t, err)
		if err := schemaWrong(t, schema, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for file, slip := range map[string][2]string{
		deploymentFile: {"readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"},
		"deploy/kubernetes/poddisruptionbudget.yaml": {"minAvailable: 1", "minAvailable: [1]"},
		"deploy/kubernetes/networkpolicy.yaml":       {"podSelector:\n    matchLabels", "podSelector:\n    labels"},
		composeFile:                                  {"read_only: true", "readonly: true"},
	} {
		text, err := os.ReadFile(file)
		must(t, err)
		broken := bytes.Replace(text, []byte(slip[0]), []byte(slip[1]), 1)
		if bytes.Equal(text, broken) || schemaWrong(t, schemas[file], broken) == nil {
			t.Errorf("%s may say %q", file, slip[1])
		}
	}
}
