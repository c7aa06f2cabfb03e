// data: {sentences: [{text, source: tokens, tokens: what it says, wanted: text or null, steps}, ...], glosses: {token:
// [pinyin, meaning]}}; a step: {sees: weights of the tokens fed, looks: weights of the source, best: [[token, probability], ...]}
// state: {sentence, step, marked: null or {sentence, step}}

const NAMES = { "[BOS]": "start", "[EOS]": "end" };
const named = (token) => NAMES[token] ?? token;
const chosen = (sentence) => sentence.steps.map(({ best }) => best[0][1]);
const least = (values) => values.indexOf(Math.min(...values));
const largest = (values) => [...values.keys()].sort((a, b) => values[b] - values[a]);

/** What the steps of a sentence are: the answers to the puzzles. */
const FEATURES = {
  hesitant: (sentence, step, data) => {
    const surest = Math.min(...data.sentences.flatMap(chosen));
    return chosen(sentence)[step] === surest;
  },
  double: ({ source, steps }, step) => {
    const { looks } = steps[step];
    const [first, second] = largest(looks);
    const end = source.length - 1; // the source's end symbol is no word
    return first !== end && second !== end && looks[first] + looks[second] > 0.7 && looks[first] - looks[second] < 0.1;
  },
  wrong: ({ tokens, wanted }, step) => {
    if (wanted === null) return false;
    const right = [...wanted, "[EOS]"];
    return step === tokens.findIndex((token, t) => token !== right[t]);
  },
};

const marked = (feature) => ({ marked: mark }, _, data) =>
  mark !== null && FEATURES[feature](data.sentences[mark.sentence], mark.step, data);

/** Cells that are as wide as their words, in as many lines as they need. */
function strip(words, room, least) {
  const natural = words.map((word) => {
    const wide = [...word].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 15 : 7.4), 0);
    return Math.max(least, wide + 9);
  });
  const lines = [[]];
  const total = (line) => line.reduce((sum, i) => sum + natural[i], 0);
  natural.forEach((wide, i) => {
    if (total(lines.at(-1)) + wide > room && lines.at(-1).length) lines.push([]);
    lines.at(-1).push(i);
  });
  const stretch = Math.min(1.6, room / Math.max(...lines.map(total)));
  const cells = [];
  lines.forEach((line, row) => {
    let x = 0;
    for (const i of line) {
      cells.push({ x, row, width: natural[i] * stretch - 3 });
      x += natural[i] * stretch;
    }
  });
  return { cells, rows: lines.length };
}

/** How the characters stand in a box of this width, large. */
function written(tokens, width) {
  const [size, line] = [24, 32];
  const across = Math.floor(width / size);
  return { size, line, across, height: line * Math.ceil(tokens.length / across) };
}

/** A strip's bars from 0 to 1, numbers over them, words below. `hidden(i)`: not seen. */
function bars(pen, key, { cells }, place, words, weights, classes) {
  const { x, y, line, tall } = place;
  cells.forEach((cell, i) => {
    const left = x + cell.x;
    const top = y + 15 + cell.row * line;
    const middle = left + cell.width / 2;
    const weight = weights[i];
    pen.rect(`${key} track ${i}`, left, top, cell.width, tall, weight === undefined ? "track hatch" : "track", { rx: 3 });
    if (weight === undefined) return;
    pen.rect(`${key} bar ${i}`, left, top + tall * (1 - weight), cell.width, tall * weight, "weight fill", { rx: 3 });
    pen.text(`${key} weight ${i}`, middle, top - 4, fixed(weight), "small middle weight", `${key}.${i}`);
    pen.text(`${key} word ${i}`, middle, top + tall + 16, named(words[i]), `middle ${classes}`);
  });
}

picture({
  start: () => ({ sentence: 0, step: 0, marked: null }),

  controls: (data) => [
    {
      kind: "choice", key: "sentence", label: "Words in the source",
      options: data.sentences.map(({ source }, i) => [i, String(source.length - 1)]),
      put: (sentence) => ({ sentence, step: 0 }),
    },
    {
      kind: "steps", key: "step", label: "Step", count: ({ sentence }) => data.sentences[sentence].steps.length, play: 1400,
      text: ({ sentence, step }) => `${step + 1} of ${data.sentences[sentence].steps.length}`,
    },
    { kind: "buttons", label: "Answer", buttons: [["Mark this step", ({ sentence, step }) => ({ marked: { sentence, step } })]] },
  ],

  puzzles: (data) => [
    ["Mark where it hesitates most.", (state) => marked("hesitant")(state, null, data)],
    ["Mark where it looks at two words at once.", (state) => marked("double")(state, null, data)],
    ...(data.sentences.some((one) => one.tokens.some((_, t) => FEATURES.wrong(one, t)))
      ? [["Mark the first wrong character.", (state) => marked("wrong")(state, null, data)]]
      : []),
  ],

  keys: "Enter presses a button, the arrow keys choose a sentence.",

  numbers({ sentence, step }, data) {
    const { steps } = data.sentences[sentence];
    const { sees, looks, best } = steps[step];
    const so_far = steps.slice(0, step + 1);
    return {
      sees, looks, next: best.map(([, share]) => share),
      map: so_far.map((one) => one.looks),
      product: so_far.reduce((product, one) => product * one.best[0][1], 1),
    };
  },

  layout({ width, height, narrow }, { sentence }, data) {
    const { source, tokens } = data.sentences[sentence];
    const side = narrow ? 0 : Math.min(260, 0.36 * width);
    const margin = narrow ? 0 : 34;
    const room = width - side - margin - (narrow ? 0 : 28);
    const fed = strip(["start", ...tokens.map(named)], room, narrow ? 31 : 37);
    const over = strip(source.map(named), room, narrow ? 31 : 37);
    const under = narrow ? 212 : 0; // what the five best take below
    const tall = Math.max(8, Math.min(36, Math.floor((height - 56 - under) / (fed.rows + over.rows)) - 40));
    const line = tall + 40;
    const place = (y) => ({ x: margin, y, line, tall });
    const second = 20 + fed.rows * line + 24;
    const below = second + over.rows * line + 4;
    const row = Math.min(17, Math.floor((height - below - 24 - under) / tokens.length));
    const board = over.rows === 1 && row >= 4 ? { x: margin, y: below + 16, row } : null;
    const next = narrow
      ? { x: 0, y: below + 12 + (board ? 24 + row * tokens.length : 0), width, row: 33 }
      : { x: width - side, y: 14, width: side, row: Math.min(42, (height - 72 - written(tokens, side).height) / 5) };
    return { narrow, notes: room > 480, width, height, fed, over, fedAt: place(20), overAt: place(second), board, next };
  },

  draw(pen, { sentence, step }, numbers, layout, data) {
    const { source, tokens } = data.sentences[sentence];
    const { best } = data.sentences[sentence].steps[step];
    const { fed, over, fedAt, overAt, board, next, narrow, notes } = layout;
    const input = ["[BOS]", ...tokens];

    // what is fed, and what the newest place sees of it: the rest is hidden, since it isn't written yet
    pen.text("fed title", 0, 13, "1  Is fed, and sees", "strong");
    if (notes) pen.text("fed note", fedAt.x + 128, 13, "self-attention: what is not yet written is hidden", "small quiet");
    bars(pen, "sees", fed, fedAt, input, numbers.sees, "query strong");
    const slot = fed.cells[step + 1];
    const [left, top] = [fedAt.x + slot.x, fedAt.y + 15 + slot.row * fedAt.line];
    pen.rect("slot", left - 1, top - 1, slot.width + 2, fedAt.tall + 23, "stroke thin output", { rx: 4 });
    pen.text("slot word", left + slot.width / 2, top + fedAt.tall + 16, named(tokens[step]), "middle strong output");
    pen.text("slot says", left + slot.width / 2, top - 5, "next", "small middle output");

    // where it looks in the source
    pen.text("over title", 0, overAt.y - 7, "2  Looks at the source", "strong");
    if (notes) pen.text("over note", overAt.x + 152, overAt.y - 7, "cross-attention: all words, at every step", "small quiet");
    bars(pen, "looks", over, overAt, source, numbers.looks, "key");
    if (!narrow && fedAt.tall > 24)
      for (const [key, { y, tall }] of [["fed", fedAt], ["over", overAt]]) {
        pen.text(`${key} one`, 22, y + 24, "1", "small quiet end");
        pen.text(`${key} zero`, 22, y + 15 + tall, "0", "small quiet end");
      }

    // the same for all steps so far, a row each
    if (board) {
      const { x, y, row } = board;
      const end = over.cells.at(-1);
      pen.text("board title", x, y - 3, notes ? "All steps so far, a row each: full colour is 1, none is 0" : "All steps so far", "small quiet");
      pen.rect("board frame", x - 2, y + 1, end.x + end.width + 4, row * tokens.length + 3, "frame", { rx: 2 });
      numbers.map.forEach((looks, t) => {
        const at = y + 3 + row * t;
        if (!narrow && (row > 12 || t === step))
          pen.text(`board name ${t}`, x - 6, at + row / 2 + 5, named(tokens[t]), `end ${t === step ? "output strong" : "small quiet"}`);
        looks.forEach((weight, s) =>
          pen.rect(`board ${t} ${s}`, x + over.cells[s].x, at, over.cells[s].width, row - 1, "weight fill", { "fill-opacity": weight }),
        );
      });
      pen.rect("board now", x - 2, y + 2 + row * step, end.x + end.width + 4, row + 1, "stroke thin output", { rx: 2 });
    }

    // the five best
    pen.text("next title", next.x, next.y - 1, "3  Says next", "strong");
    pen.text("next note", next.x + next.width, next.y - 1, "the five best", "small quiet end");
    best.forEach(([token, share], i) => {
      const y = next.y + 20 + next.row * i;
      const [pinyin, meaning] = data.glosses[token] ?? ["", ""];
      pen.text(`next ${i}`, next.x, y, named(token), i ? "" : "output strong");
      pen.text(`gloss ${i}`, next.x + 34, y, next.width < 250 && !narrow ? pinyin : [pinyin, meaning].filter(Boolean).join(" · "), "small quiet");
      pen.text(`share ${i}`, next.x + next.width, y, fixed(share, 3), `end ${i ? "" : "strong output"}`, `next.${i}`);
      pen.rect(`next track ${i}`, next.x, y + 6, next.width, 9, "track", { rx: 3 });
      pen.rect(`next bar ${i}`, next.x, y + 6, next.width * share, 9, `fill ${i ? "weight" : "output"}`, { rx: 3 });
    });
    const foot = next.y + 20 + next.row * 5 + 4;
    pen.text("product name", next.x, foot, "All so far, multiplied", "small quiet");
    pen.text("product", next.x + next.width, foot, fixed(numbers.product, 3), "end strong output", "product");
    if (narrow) return;
    const { size, across, line } = written(tokens, next.width);
    tokens.slice(0, step + 1).forEach((token, t) => {
      const style = token === "[EOS]" ? undefined : `font-size: ${size - 2}px`;
      const x = next.x + size * ((t % across) + 0.5);
      const y = foot + line + line * Math.floor(t / across);
      pen.put(`written ${t}`, "text", { x, y, style, class: `middle ${t === step ? "output strong" : ""}` }, named(token));
    });
  },

  say({ sentence, step, marked: mark }, { sees, looks, next }, data) {
    const one = data.sentences[sentence];
    const { source, tokens, steps } = one;
    const [token, rival] = steps[step].best.map(([name]) => name);
    const gloss = ([name]) => (data.glosses[name] ? ` (${data.glosses[name].join(", ")})` : "");
    const [first, second] = largest(looks);
    const word = (s) => (s === source.length - 1 ? "the end symbol" : source[s]);
    let verdict = "";
    if (mark !== null && mark.sentence === sentence && mark.step === step) {
      const found = [
        FEATURES.hesitant(one, step, data) ? "the most hesitant of all steps" : "",
        FEATURES.double(one, step) ? "it looks at two words at once" : "",
        FEATURES.wrong(one, step) ? `the first wrong character: ${[...one.wanted][step] ?? "end"} was wanted` : "",
      ].filter(Boolean);
      verdict = found.length ? `Marked: ${found.join("; ")}. ` : "Marked, but it answers none of the questions. ";
    }
    const says = token === "[EOS]" ? "It says end, and the loop stops" : `It says ${token}${gloss([token])}`;
    return `${verdict}${says}: ${fixed(next[0], 3)}, then ${named(rival)} ${fixed(next[1], 3)}. It is fed ${sees.length} ${sees.length > 1 ? "tokens" : "token"}. ` +
      `It looks most at ${word(first)} (${fixed(looks[first])}), then at ${word(second)} (${fixed(looks[second])}).`;
  },
});
