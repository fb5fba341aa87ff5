package report

import (
	"fmt"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The words of a check that waits for others of its stack.

// layersAwaited names what a pass waits for below it in its stack, as a title has it; "" if for nothing.
func layersAwaited(d quorum.Decision) string {
	switch d.Reason {
	case quorum.ReasonLayer:
		return fmt.Sprintf("#%d below", d.Layer)
	case quorum.ReasonLayersLost:
		return "the layers below, which cannot all be found"
	case quorum.ReasonLayersMany:
		return fmt.Sprintf("lower layers: more than %d are below", quorum.MaxLayers)
	}
	return ""
}
