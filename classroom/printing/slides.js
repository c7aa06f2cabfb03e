// Lays each slide out, then starts reveal.js: words beside or above the result, whichever leaves the result larger,
// in the largest letters that fit. What does not fit in the smallest is marked "full" and can be scrolled.
const WIDTH = 1280, HEIGHT = 720, LARGEST = 46, SMALLEST = 25; // pixels

function fits(page) {
  const parts = [page, ...page.querySelectorAll(".body, .words, .result, .shown, .output, pre")];
  const right = page.getBoundingClientRect().right;
  if ([...page.querySelectorAll("math")].some((math) => math.getBoundingClientRect().right > right)) return false;
  return parts.every((part) => part.scrollHeight <= part.clientHeight + 1 && part.scrollWidth <= part.clientWidth + 1);
}

function area(page) {
  const pictures = [...page.querySelectorAll(".output img, .output iframe")];
  return pictures.reduce((sum, { clientWidth, clientHeight, naturalWidth, naturalHeight }) => {
    const scale = naturalWidth ? Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight) : 1;
    return sum + (naturalWidth ? scale * scale * naturalWidth * naturalHeight : clientWidth * clientHeight);
  }, 0) / (WIDTH * HEIGHT);
}

function layOut(page) {
  const layouts = page.querySelector(".result") ? ["above", "beside"] : ["above"];
  let best = { value: -1, layout: layouts[0], size: SMALLEST };
  for (const layout of layouts) {
    page.dataset.layout = layout;
    for (let size = LARGEST; size >= SMALLEST; size--) {
      page.style.fontSize = `${size}px`;
      if (!fits(page)) continue;
      const value = size / LARGEST + 1.5 * area(page);
      if (value > best.value) best = { value, layout, size };
    }
  }
  page.dataset.layout = best.layout;
  page.style.fontSize = `${best.size}px`;
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
