// Lays each slide out, then starts reveal.js: words beside or above the result, whichever leaves the result larger,
// in the largest letters that fit. What does not fit in the smallest is marked "full" and can be scrolled.
const WIDTH = 1280, HEIGHT = 720, LARGEST = 46, SMALLEST = 25; // pixels
const ZOOMS = [1.2, 1.15, 1.1, 1.05, 1, 0.9, 0.8, 0.7]; // of a moving picture

function fits(page) {
  const parts = [page, ...page.querySelectorAll(".body, .words, .result, .shown, .output, pre")];
  const right = page.getBoundingClientRect().right;
  if ([...page.querySelectorAll("math")].some((math) => math.getBoundingClientRect().right > right)) return false;
  return parts.every((part) => part.scrollHeight <= part.clientHeight + 1 && part.scrollWidth <= part.clientWidth + 1);
}

function area(page) {
  const pictures = [...page.querySelectorAll(".output img, .output iframe")].map((picture) => {
    const { width, height } = picture.getBoundingClientRect(), { naturalWidth, naturalHeight } = picture;
    if (!naturalWidth) return width * height;
    return Math.min(width / naturalWidth, height / naturalHeight) ** 2 * naturalWidth * naturalHeight;
  });
  return pictures.reduce((sum, part) => sum + part, 0) / (WIDTH * HEIGHT);
}

function set(page, { layout, zoom, size }) {
  page.dataset.layout = layout;
  page.style.setProperty("--zoom", zoom);
  page.style.fontSize = `${size}px`;
}

function layOut(page) {
  const moves = page.querySelector("iframe");
  const layouts = moves || !page.querySelector(".result") ? ["above"] : ["above", "beside"];
  let best = { value: -1, layout: "above", zoom: 0.7, size: SMALLEST };
  for (const layout of layouts) {
    for (const zoom of moves ? ZOOMS : [1]) {
      for (let size = LARGEST; size >= SMALLEST; size--) {
        set(page, { layout, zoom, size });
        if (!fits(page)) continue;
        const value = size / LARGEST + 1.5 * area(page);
        if (value > best.value) best = { value, layout, zoom, size };
      }
    }
  }
  set(page, best);
  page.classList.toggle("full", best.value < 0);
}

window.addEventListener("load", async () => {
  document.body.classList.add("measured");
  document.body.getBoundingClientRect(); // now the fonts are asked for
  await document.fonts.ready;
  document.querySelectorAll("section.page").forEach(layOut);
  document.body.classList.remove("measured");
  Reveal.initialize({
    width: WIDTH, height: HEIGHT, margin: 0.03, center: false, display: "flex", hash: true, slideNumber: "c/t",
    transition: "none", backgroundTransition: "none", pdfSeparateFragments: false, plugins: [RevealNotes],
  });
});
