package browsertest

// Pictures that a repository keeps: few colours, so that they are small, and a comparison that looks at what a person
// would, so that the edge of a letter is no change.

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
	"testing"
)

// DecodePicture reads a PNG.
func DecodePicture(t *testing.T, picture []byte) *image.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Rect, img, flat.Rect.Min, draw.Src)
	return flat
}

// EncodePicture writes a PNG with so many colours at most: the commonest ones, which are those of areas, and of the
// rest no two that are so much alike, so that a rare one has its place too.
func EncodePicture(t *testing.T, img *image.RGBA, most, alike int) []byte {
	t.Helper()
	count := map[color.RGBA]int{}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			count[img.RGBAAt(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return slices.Compare([]int{count[b], int(b.R), int(b.G), int(b.B)}, []int{count[a], int(a.R), int(a.G), int(a.B)})
	})
	const areas = 6
	var palette color.Palette
	for _, c := range all {
		if len(palette) < most && (len(palette) < areas || distanceOf(c, palette[palette.Index(c)]) > alike) {
			palette = append(palette, c)
		}
	}
	few := image.NewPaletted(img.Rect, palette)
	draw.Draw(few, few.Rect, img, img.Rect.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// distanceOf is the sum of squares of what two colours differ in.
func distanceOf(c color.RGBA, d color.Color) int {
	r, g, b, _ := d.RGBA()
	part := func(x uint8, y uint32) int { return (int(x) - int(y>>8)) * (int(x) - int(y>>8)) }
	return part(c.R, r) + part(c.G, g) + part(c.B, b)
}

// The pictures are compared in squares of this many pixels a side. A square differs if one of its mean colours is so
// far away, and pictures differ if so many in a thousand squares do.
const (
	squareSide     = 8
	squareDistance = 24
	squaresDiffer  = 6
)

// PictureDifference says how two pictures differ, as a person would see it; "" if they do not.
func PictureDifference(a, b *image.RGBA) string {
	if a.Rect != b.Rect {
		return fmt.Sprintf("they are %v and %v", a.Rect.Size(), b.Rect.Size())
	}
	total, differ := 0, 0
	var where image.Rectangle
	for y := 0; y < a.Rect.Dy(); y += squareSide {
		for x := 0; x < a.Rect.Dx(); x += squareSide {
			square := image.Rect(x, y, x+squareSide, y+squareSide).Intersect(a.Rect)
			total++
			if meanDistance(a, b, square) > squareDistance {
				differ++
				where = where.Union(square)
			}
		}
	}
	if differ*1000 < total*squaresDiffer {
		return ""
	}
	return fmt.Sprintf("%d of %d squares differ, within %v", differ, total, where)
}

// meanDistance is how far the mean colours of a square are apart, in the part where they are furthest.
func meanDistance(a, b *image.RGBA, square image.Rectangle) (most int) {
	var sum [3]int
	for y := square.Min.Y; y < square.Max.Y; y++ {
		for x := square.Min.X; x < square.Max.X; x++ {
			c, d := a.RGBAAt(x, y), b.RGBAAt(x, y)
			sum[0] += int(c.R) - int(d.R)
			sum[1] += int(c.G) - int(d.G)
			sum[2] += int(c.B) - int(d.B)
		}
	}
	for _, s := range sum {
		most = max(most, s, -s)
	}
	return most / (square.Dx() * square.Dy())
}
