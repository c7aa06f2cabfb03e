// data: {dModels, last: position, farthest: offset, start: {d_model, p, k, positions: 1 or 2}}
// state: {d_model, p, k, positions, since: the position at which k was chosen}

const TRAIL = 5; // words
const NEAR = 5; // degrees
const each = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const speed = (i, d_model) => 1 / 10000 ** ((2 * i) / d_model);
const degrees = (angle) => (Math.abs(Math.atan2(Math.sin(angle), Math.cos(angle))) * 180) / Math.PI;
/** How long hand i is drawn: the fastest the longest, so that all can be told apart on one face. */
const reach = (i, n) => 1 - (0.74 * i) / Math.max(3, n - 1);

/** One row of the table: sine and cosine of each hand. */
const positionRow = (p, d_model) =>
  each(d_model, (j) => (j % 2 ? Math.cos : Math.sin)(p * speed(Math.floor(j / 2), d_model)));

/** A dot that a transition never moves: it must not part from the end of its hand. */
const disc = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

/** Clockwise from angle a to angle b, less than a turn, on a ring around (cx, cy). */
function arc(cx, cy, r, a, b) {
  const at = (angle) => `${(cx + r * Math.sin(angle)).toFixed(2)} ${(cy - r * Math.cos(angle)).toFixed(2)}`;
  return `M${at(a)}A${r} ${r} 0 ${b - a > Math.PI ? 1 : 0} 1 ${at(b)}`;
}

/** A row of numbers as bars from a line at 0, each with its number below. */
function bars(pen, key, row, from, { at, wide, tall, small }, y, whose, shows) {
  row.forEach((number, n) => {
    const [x, part] = [at(n), (tall / 2) * Math.abs(number)];
    if (tall) {
      pen.rect(`${key} track ${n}`, x - wide / 2, y, wide, tall, "track", { rx: 2 });
      pen.rect(`${key} bar ${n}`, x - wide / 2, y + tall / 2 - (number > 0 ? part : 0), wide, part, `${whose} fill`);
      pen.line(`${key} zero ${n}`, x - wide / 2, y + tall / 2, x + wide / 2, y + tall / 2, "axis");
    }
    const style = small ? "font-size: 10.5px" : undefined;
    pen.put(`${key} ${n}`, "text", { x, y: y + tall + 13, class: "middle small", style, "data-shows": `${shows}.${from + n}` }, fixed(number));
  });
}

picture({
  start: (data) => ({ ...data.start, since: data.start.p }),

  controls: (data) => [
    { kind: "slider", key: "position", label: "Position p", min: 0, max: data.last, step: 1, get: ({ p }) => p, put: (p) => ({ p }) },
    { kind: "steps", key: "p", label: "Word by word", count: data.last + 1, play: 120, text: () => "" },
    {
      kind: "choice", key: "positions", label: "Show", options: [[1, "p"], [2, "p and p + k"]],
      put: (positions, { p }) => ({ positions, since: p }),
    },
    { kind: "choice", key: "d_model", label: "d_model", options: data.dModels.map((d_model) => [d_model, String(d_model)]) },
    {
      kind: "slider", key: "k", label: "Offset k", min: 0, max: data.farthest, step: 1, when: ({ positions }) => positions === 2,
      put: (k, { p }) => ({ k, since: p }),
    },
  ],

  puzzles: ({ start }) => {
    const two = ({ positions, k }) => positions === 2 && k > 0;
    if (start.positions === 2)
      return [
        ["Move p by 50. What stays?", (state) => two(state) && Math.abs(state.p - state.since) >= 50],
        [`A k > 0 that brings hand 0 round, within ${NEAR}°.`, (state, { gaps }) => two(state) && gaps[0] <= NEAR],
        ["Over 10 apart, yet more alike than 4 apart.", (state, { curve }) => two(state) && state.k > 10 && curve[state.k] > curve[4]],
      ];
    return [
      [`Turn hand 1 upside down, within ${NEAR}°.`, ({ p, d_model }) => 180 - degrees(p * speed(1, d_model)) <= NEAR],
      [`Bring hand 0 back to twelve, within ${NEAR}°.`, ({ p, d_model }) => p > 0 && degrees(p * speed(0, d_model)) <= NEAR],
      ["All hands back at twelve?", () => false],
    ];
  },

  keys: "On a slider, arrow keys go word by word, Page Up and Page Down in leaps.",

  numbers({ p, k, d_model }, data) {
    const [row, other] = [positionRow(p, d_model), positionRow(p + k, d_model)];
    const products = each(d_model / 2, (i) => row[2 * i] * other[2 * i] + row[2 * i + 1] * other[2 * i + 1]);
    return {
      row,
      other,
      turns: each(d_model / 2, (i) => (2 * Math.PI) / speed(i, d_model)),
      gaps: each(d_model / 2, (i) => degrees(k * speed(i, d_model))),
      products,
      dot: dot(row, other),
      curve: each(data.farthest + 1, (apart) => dot(row, positionRow(p + apart, d_model))),
    };
  },

  layout({ width, height, narrow }, { d_model }) {
    const blocksOf = (room) => (room / d_model < 30 ? 2 : 1); // the row of numbers in one line, or in two
    if (narrow) {
      const label = 46;
      const blocks = blocksOf(width - label);
      const side = Math.min(width, height * (blocks === 2 ? 0.42 : 0.5));
      const R = side / 2 - 20;
      return { R, cx: width / 2, cy: R + 18, x: 0, y: side + 4, width, height: height - side - 4, blocks, label, tight: true };
    }
    const tight = width < 620;
    const R = Math.min(height / 2 - 20, width * (tight ? 0.152 : 0.17));
    const [x, label] = [2 * R + 66, tight ? 46 : 88];
    return { R, cx: R + 8, cy: height / 2 + 4, x, y: 0, width: width - x, height, blocks: blocksOf(width - x - label), label, tight };
  },

  draw(pen, state, numbers, L, data) {
    const { p, k, d_model } = state;
    const { R, cx, cy } = L;
    const [hands, both] = [d_model / 2, state.positions === 2];
    const tip = (at, i) => [cx + R * reach(i, hands) * Math.sin(at * speed(i, d_model)), cy - R * reach(i, hands) * Math.cos(at * speed(i, d_model))];

    const room = (R * 0.74) / Math.max(3, hands - 1); // between the tips of two hands

    // the face
    pen.circle("face", cx, cy, R, "frame");
    pen.line("up", cx, cy - R, cx, cy + R, "axis faint");
    pen.line("right", cx - R, cy, cx + R, cy, "axis faint");
    each(12, (hour) => {
      const [sine, cosine] = [Math.sin((hour * Math.PI) / 6), Math.cos((hour * Math.PI) / 6)];
      pen.line(`hour ${hour}`, cx + 0.96 * R * sine, cy - 0.96 * R * cosine, cx + R * sine, cy - R * cosine, "axis");
    });
    if (L.tight) {
      pen.text("first", 0, 14, `p = ${p}`, "strong query");
      if (both) pen.text("second", 0, 34, `p + k = ${p + k}`, "strong key");
    }
    pen.text("cosine", cx, cy - R - 8, "cosine ↑", "small quiet middle");
    pen.text("sine", cx + R + 4, cy + 4, "sine →", "small quiet");

    // the way of each hand: over the last words, or from p to p + k
    each(hands, (i) => {
      const r = R * reach(i, hands);
      const w = speed(i, d_model);
      if (both) {
        const [a, b] = [p * w, (p + k) * w];
        const turn = (((b - a) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
        const gap = turn > Math.PI ? [b, b + 2 * Math.PI - turn] : [a, a + turn];
        pen.path(`way ${i}`, arc(cx, cy, r, ...gap), "stroke thick output faint");
        return;
      }
      each(Math.min(TRAIL, p), (back) => {
        pen.put(`trail ${i} ${back}`, "path", {
          d: arc(cx, cy, r, (p - back - 1) * w, (p - back) * w), class: "stroke query", style: `stroke-width: 5px; stroke-linecap: butt; opacity: ${0.5 - 0.085 * back}`,
        });
      });
    });
    if (both)
      each(hands, (i) => {
        pen.line(`other hand ${i}`, cx, cy, ...tip(p + k, i), "stroke key");
        pen.path(`other tip ${i}`, disc(...tip(p + k, i), 6), "key fill");
      });
    each(hands, (i) => pen.line(`hand ${i}`, cx, cy, ...tip(p, i), "stroke query"));
    each(hands, (i) => {
      const [x, y] = tip(p, i);
      pen.put(`tip ${i}`, "path", { d: disc(x, y, 8), class: "query fill", style: "stroke: var(--ground); stroke-width: 1px" });
      if (room > 11 || i % 2 === 0) pen.put(`tip number ${i}`, "text", { x, y: y + 4, class: "middle small strong", style: "fill: var(--ground)" }, String(i));
    });
    pen.path("pivot", disc(cx, cy, 4), "fill");

    // the row of numbers, pair by pair
    const columns = d_model / L.blocks;
    const column = (L.width - L.label) / columns;
    const place = { wide: Math.min(34, column - 6), small: column < 36, at: (n) => L.x + L.label + column * (n + 0.5) };
    const middle = (i) => L.x + L.label + 2 * column * (i + 0.5);
    const [rows, below] = both ? [2, 37] : [1, 20];
    const gap = L.tight ? 8 : 6;
    const least = Math.max(96, Math.min(126, L.height * 0.36)); // for the curve or the waves
    const free = ((L.height - least) / L.blocks - 34 - below - gap) / rows - 20;
    const tall = free < 12 ? 0 : Math.min(64, free); // numbers without bars, where there is little room
    const block = (tall ? 34 : 19) + rows * (tall + (tall ? 20 : 17)) + below + gap;
    const rest = L.height - L.blocks * block;
    const side = (key, y, text, whose = "") => pen.text(key, L.x, y, text, `small strong ${whose}`);
    each(L.blocks, (b) => {
      const from = b * columns;
      const some = each(columns / 2, (i) => from / 2 + i);
      let y = L.y + b * block + 12;
      some.forEach((i, n) => pen.text(`head ${i}`, middle(n), y, `hand ${i}`, "small strong middle"));
      if (tall) {
        y += 17;
        each(columns, (n) => pen.text(`kind ${from + n}`, place.at(n), y, n % 2 ? "cos" : "sin", "small quiet middle"));
      }
      y += tall ? 5 : 4;
      const spot = { ...place, tall };
      side(`row name ${b}`, y + (tall ? tall / 2 + 4 : 13), L.tight ? "p" : `p = ${p}`, "query");
      bars(pen, `row ${b}`, numbers.row.slice(from, from + columns), from, spot, y, "query", "row");
      y += tall + (tall ? 20 : 17);
      if (!both) {
        side(`turn name ${b}`, y + 13, L.tight ? "words" : "words per turn");
        some.forEach((i, n) => {
          pen.text(`turn ${i}`, middle(n), y + 13, fixed(numbers.turns[i], 1), "small middle strong", `turns.${i}`);
        });
        return;
      }
      side(`other name ${b}`, y + (tall ? tall / 2 + 4 : 13), L.tight ? "p + k" : `p + k = ${p + k}`, "key");
      bars(pen, `other ${b}`, numbers.other.slice(from, from + columns), from, spot, y, "key", "other");
      y += tall + (tall ? 20 : 17);
      side(`gap name ${b}`, y + 13, L.tight ? "angle°" : "angle in °");
      side(`product name ${b}`, y + 30, "product", "output");
      some.forEach((i, n) => {
        pen.text(`gap ${i}`, middle(n), y + 13, fixed(numbers.gaps[i], 1), "small middle", `gaps.${i}`);
        pen.text(`product ${i}`, middle(n), y + 30, fixed(numbers.products[i]), "small middle strong output", `products.${i}`);
      });
    });
    const top = L.y + L.height - rest;
    if (both) dotProducts(pen, state, numbers, { x: L.x, y: top + 8, width: L.width, height: rest - 8 });
    else waves(pen, state, data, { x: L.x, y: top + 8, width: L.width, height: rest - 8 });
  },

  say({ p, k, d_model, positions }, { row, turns, gaps, dot }) {
    const list = (numbers, digits) => numbers.map((number) => fixed(number, digits)).join(", ");
    if (positions === 1) {
      const slow = d_model / 2 - 1;
      const made = (i) => fixed(p / turns[i], 3);
      if (!p) return `Position 0: all ${d_model / 2} hands stand at twelve, so each sine is 0 and each cosine is 1.`;
      return `Position ${p}: hand 0 has made ${made(0)} turns, hand ${slow}, the slowest, ${made(slow)}. The row is ${list(row, 2)}.`;
    }
    if (!k) return `k = 0: both positions are ${p}, all hands lie on each other, and the dot product is ${fixed(dot)}, one for each hand.`;
    const angles = gaps.map((angle) => `${fixed(angle, 1)}°`).join(", ");
    return `Positions ${p} and ${p + k}: the angles between their hands are ${angles}. The products are their cosines and sum to ${fixed(dot)}. Moving p changes none of this.`;
  },
});

/** The dot product of p and p + k for every k; it is drawn from the two rows, and yet stays when p moves. */
function dotProducts(pen, { k, d_model }, { curve, dot }, { x, y, width, height }) {
  const [hands, foot, least] = [d_model / 2, 14, Math.min(0, Math.floor(Math.min(...curve)))];
  const [top, low] = [y + 22, y + height - foot];
  const across = (apart) => x + 26 + ((width - 34) * apart) / (curve.length - 1);
  const up = (value) => low - ((low - top) * (value - least)) / (hands - least);
  pen.text("curve title", x, y + 8, `${width < 320 ? "Sum:" : "Sum of the products:"} PE(p) · PE(p + k) =`, "small strong");
  pen.text("curve number", x + width, y + 8, fixed(dot), "end strong output", "dot");
  for (const value of [hands, 0]) {
    pen.line(`level ${value}`, across(0), up(value), across(curve.length - 1), up(value), "axis faint");
    pen.text(`level name ${value}`, x + 20, up(value) + 4, fixed(value, 0), "small quiet end");
  }
  pen.path("curve", `M${curve.map((value, apart) => `${across(apart).toFixed(1)} ${up(value).toFixed(1)}`).join("L")}`, "stroke output");
  pen.line("here", across(k), top, across(k), low, "stroke thin dashed output");
  pen.path("point", disc(across(k), up(dot), 6), "output fill");
  for (const apart of [0, 16, 32, 48, 64])
    pen.text(`apart ${apart}`, across(apart), low + foot, `${apart ? "" : "k = "}${apart}`, `small quiet ${apart === 64 ? "end" : "middle"}`);
}

/** The sine of each hand over all positions: one column of the table each. */
function waves(pen, { p, d_model }, data, { x, y, width, height }) {
  const hands = d_model / 2;
  const [top, low] = [y + 16, y + height - 14];
  const part = (low - top) / hands;
  const across = (at) => x + 26 + ((width - 34) * at) / data.last;
  pen.text("waves title", x, y + 6, "The sine of each hand, position by position", "small strong");
  each(hands, (i) => {
    const middle = top + part * (i + 0.5);
    const up = (at) => middle - 0.42 * part * Math.sin(at * speed(i, d_model));
    const points = each(2 * data.last + 1, (n) => `${across(n / 2).toFixed(1)} ${up(n / 2).toFixed(1)}`);
    if (part > 13 || i % 2 === 0) pen.text(`wave name ${i}`, x + 8, middle + 4, String(i), "small strong middle");
    pen.line(`wave zero ${i}`, across(0), middle, across(data.last), middle, "axis faint");
    pen.path(`wave ${i}`, `M${points.join("L")}`, "stroke thin query");
    pen.path(`wave point ${i}`, disc(across(p), up(p), Math.min(5, part / 2.4)), "query fill");
  });
  pen.line("here", across(p), top, across(p), low, "stroke thin dashed");
  for (const at of [0, 50, 100, 150, 200])
    pen.text(`at ${at}`, across(at), low + 14, `${at ? "" : "p = "}${at}`, `small quiet ${at === 200 ? "end" : "middle"}`);
}
