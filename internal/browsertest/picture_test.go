package browsertest

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// A word that is gone is a difference; the edge of a letter is none.
func TestPicturesDiffer(t *testing.T) {
	paper := func() *image.RGBA {
		p := image.NewRGBA(image.Rect(0, 0, 400, 320))
		draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
		for x := 16; x < 120; x += 4 { // a word: every other pair of columns is ink
			draw.Draw(p, image.Rect(x, 32, x+2, 44), image.Black, image.Point{}, draw.Src)
		}
		return p
	}
	same := paper()
	if d := PictureDifference(paper(), same); d != "" {
		t.Errorf("equal pictures: %s", d)
	}
	for x := 16; x < 120; x += 4 {
		same.SetRGBA(x, 32, color.RGBA{60, 60, 60, 255})
	}
	if d := PictureDifference(paper(), same); d != "" {
		t.Errorf("other edges: %s", d)
	}
	blank := paper()
	draw.Draw(blank, image.Rect(16, 32, 120, 44), image.White, image.Point{}, draw.Src)
	if PictureDifference(paper(), blank) == "" {
		t.Error("a word is gone, and nobody sees it")
	}
	if PictureDifference(paper(), image.NewRGBA(image.Rect(0, 0, 400, 328))) == "" {
		t.Error("another size, and nobody sees it")
	}
	few := DecodePicture(t, EncodePicture(t, paper(), 16, 150))
	if d := PictureDifference(paper(), few); d != "" {
		t.Errorf("few colours: %s", d)
	}
}
