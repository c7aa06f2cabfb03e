// data: {start, examples: [{names, keys, values, query, d_k, features, reach}, ...]}, for 2, 3 and 4 keys.
// state: {keys: 2 ... 4, x, y: the query, angle: its direction in degrees, kept while its length is 0}

const LEAST_KEYS = 2;
const FOOT = 18; // pixels of the table's last line
const STEP = 0.1;
const TURN = 3; // degrees, in which a drag goes round the rim: 0, 45 and 90 are among them
const TIE = 0.005;
const FARTHEST = STEP / 2; // so near to its reach the query counts as being as long as it can
const degrees = (x, y) => ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360;
const tidy = (x) => Math.round(x * 1e6) / 1e6;
const example = (state, data) => data.examples[state.keys - LEAST_KEYS];

function begin(keys, data) {
  const [x, y] = data.examples[keys - LEAST_KEYS].query;
  return { keys, x, y, angle: degrees(x, y) };
}

/** The query at (x, y), or as far that way as it may go; in steps, so that equal weights can be reached exactly. */
function at(x, y, reach, state) {
  const shrink = Math.min(1, reach / Math.hypot(x, y));
  const near = (value) => [Math.round, Math.trunc].map((to) => tidy(STEP * to(tidy((value * shrink) / STEP))));
  const [nearX, nearY] = [near(x), near(y)];
  const places = nearX.flatMap((one) => nearY.map((other) => [one, other]));
  [x, y] = places.find((place) => Math.hypot(...place) <= reach + 1e-9);
  return { x, y, angle: x || y ? degrees(x, y) : state.angle };
}

/** The query that is dragged to (x, y): beyond its reach it goes round the rim, as long as it can be. */
function dragged(x, y, reach, state) {
  if (Math.hypot(x, y) < reach) return at(x, y, reach, state);
  const angle = (Math.round(degrees(x, y) / TURN) * TURN) % 360;
  const turned = (angle * Math.PI) / 180;
  return { x: tidy(reach * Math.cos(turned)), y: tidy(reach * Math.sin(turned)), angle };
}

/** The two keys with the largest weights, largest first, and whether the query can't choose between them. */
function leaders({ weights, length }) {
  const [first, second] = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a] || a - b);
  return { first, second, tie: length > 1e-9 && weights[first] - weights[second] < TIE };
}

/** A point in numbers; where rounding would put it on a value, with more decimals. */
function place(output, values) {
  const written = (digits) => output.map((x) => fixed(x, digits)).join(", ");
  const on = (digits) => values.some((value) => value.map((x) => fixed(x, digits)).join(", ") === written(digits));
  const same = values.some((value) => value.every((x, i) => x === output[i]));
  if (same || !on(2)) return `(${written(2)})`;
  return on(4) ? `≈ (${written(4)})` : `(${written(4)})`;
}

/** The corners of the smallest convex region around the points, in order. */
function around(points) {
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (sweep) => {
    const kept = [];
    for (const point of sweep) {
      while (kept.length > 1 && turn(kept.at(-2), kept.at(-1), point) <= 0) kept.pop();
      kept.push(point);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half([...sorted].reverse())];
}

/** From two features to pixels, the same scale both ways: `box` in pixels, `lows` and `highs` in features. */
function plane(box, lows, highs) {
  const scale = Math.min(box.width / (highs[0] - lows[0]), box.height / (highs[1] - lows[1]));
  const middle = [(lows[0] + highs[0]) / 2, (lows[1] + highs[1]) / 2];
  const centre = [box.x + box.width / 2, box.y + box.height / 2];
  return {
    ...box,
    put: ([x, y]) => [centre[0] + scale * (x - middle[0]), centre[1] - scale * (y - middle[1])],
    read: (px, py) => [(px - centre[0]) / scale + middle[0], (centre[1] - py) / scale + middle[1]],
  };
}

function axes(pen, key, where, title, point, classes, features) { // point: in words
  const [ox, oy] = where.put([0, 0]);
  const [right, foot] = [where.x + where.width, where.y + where.height];
  pen.rect(`${key} box`, where.x, where.y, where.width, where.height, "frame");
  if (oy > where.y && oy < foot) pen.line(`${key} across`, where.x, oy, right, oy, "axis");
  if (ox > where.x && ox < right) pen.line(`${key} up`, ox, where.y, ox, foot, "axis");
  pen.text(`${key} title`, where.x, where.y - 7, title, "strong");
  pen.text(`${key} point`, right, where.y - 7, point, `end strong ${classes}`);
  if (!features) return;
  pen.text(`${key} feature 1`, right - 5, foot - 6, `${short(features[0])} →`, "small quiet end halo");
  pen.text(`${key} feature 2`, where.x + 6, where.y + 15, `↑ ${short(features[1])}`, "small quiet halo");
}

/** A name near (x, y), on the side of `to` if it can be: off its own point, lines and other names as far as may be.
 *  taken: {lines: [[x1, y1, x2, y2], ...], names: [[left, top, right, bottom], ...]}; the name joins them.
 *  optional: left out where there is no room for it. */
function name(pen, key, [x, y], [tx, ty], text, where, classes, gap, taken, optional = false) {
  const half = 4.3 * [...text].length + 2;
  const wanted = tx || ty ? Math.atan2(ty, tx) : -Math.PI / 2;
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  let best = { cost: Infinity };
  for (const turn of [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6]) {
    const angle = wanted + (turn * Math.PI) / 6;
    const cx = clamp(x + (gap + half) * Math.cos(angle), where.x + half + 2, where.x + where.width - half - 2);
    const cy = clamp(y + (gap + 6) * Math.sin(angle), where.y + 10, where.y + where.height - 11);
    const box = [cx - half, cy - 7, cx + half, cy + 7];
    const apart = Math.hypot(clamp(x, box[0], box[2]) - x, clamp(y, box[1], box[3]) - y);
    const over = (other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3];
    const crossed = taken.lines.filter((line) => crosses(line, box)).length;
    const cost = 0.5 * Math.abs(turn) + 4 * crossed + 20 * taken.names.filter(over).length + 20 * (apart < gap - 3);
    if (cost < best.cost) best = { cost, cx, cy, box };
  }
  if (optional && best.cost >= 4) return;
  taken.names.push(best.box);
  pen.text(key, best.cx, best.cy + 5, text, `middle strong halo ${classes}`);
}

/** Whether a line goes through a box, looked at in small steps. */
function crosses([x1, y1, x2, y2], [left, top, right, bottom]) {
  const steps = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 4);
  for (let i = 0; i <= steps; i += 1) {
    const [x, y] = [x1 + ((x2 - x1) * i) / steps, y1 + ((y2 - y1) * i) / steps];
    if (x > left && x < right && y > top && y < bottom) return true;
  }
  return false;
}

/** A heading whose last part is raised or lowered: e to the power of ..., the root of d with index k. */
function heading(pen, key, x, y, text, small, shift) {
  const parts = [["tspan", {}, text], ["tspan", { dy: shift, "font-size": 9.5 }, small]];
  pen.put(key, "text", { x, y, class: "small quiet end" }, parts);
}

/** Where the keys i and j fit equally well: the line at right angles to their difference. */
function drawTie(pen, i, j, { keys, names, reach }, query, here, lines) {
  const difference = [0, 1].map((feature) => keys[i][feature] - keys[j][feature]);
  const size = dot(difference, difference);
  if (!size) return;
  const across = [-difference[1], difference[0]].map((x) => x / Math.sqrt(size));
  const sign = dot(across, query) < 0 ? -1 : 1;
  const ends = [sign, -sign].map((side) => here.put(across.map((x) => 0.96 * reach * side * x)));
  pen.line("tie", ...ends[0], ...ends[1], "stroke thin dashed good");
  const share = dot(keys[i], difference) / size;
  const foot = keys[i].map((x, feature) => x - share * difference[feature]);
  const at = [keys[i], keys[j], foot].map(here.put);
  pen.line("difference", ...at[0], ...at[1], "stroke thin key");
  const nearest = at[share < 0 ? 0 : 1];
  if (share < 0 || share > 1) pen.line("difference on", ...nearest, ...at[2], "stroke thin dotted key");
  const [ux, uy] = difference.map((x) => (9 * x) / Math.sqrt(size));
  const [px, py] = across.map((x) => 9 * x);
  const [fx, fy] = at[2];
  const corner = [[ux, uy], [ux + px, uy + py], [px, py]].map(([x, y]) => `${fx + x} ${fy - y}`);
  pen.path("right angle", `M${corner.join("L")}`, "stroke thin good");
  lines.push([...ends[0], ...ends[1]], [...at[0], ...at[1]]);
  return {
    tie: [ends[1], keys.length === 2 ? "here nobody wins" : `${short(names[i], 7)} and ${short(names[j], 7)} tie`],
    difference: [[(at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2], `${short(names[i], 7)} − ${short(names[j], 7)}`],
    away: [0, 1].map((axis) => at[2][axis] - here.put([0, 0])[axis]),
  };
}

picture({
  start: (data) => begin(data.start, data),

  controls: (data) => [
    {
      kind: "choice", key: "keys", label: "Keys",
      options: [[2, "two"], [3, "three"], [4, "four"]],
      put: (keys) => begin(keys, data),
    },
    {
      kind: "slider", key: "angle", label: "Direction", min: 0, max: 355, step: 5,
      text: (angle) => `${fixed(angle, 0)}°`,
      put: (angle, { x, y }) => {
        const length = Math.hypot(x, y);
        const turned = (angle * Math.PI) / 180;
        return { angle, x: length * Math.cos(turned), y: length * Math.sin(turned) };
      },
    },
    {
      kind: "slider", key: "length", label: "Length", min: 0, max: (state) => example(state, data).reach, step: STEP,
      get: ({ x, y }) => Math.hypot(x, y),
      text: (length) => fixed(length),
      put: (length, state) => {
        const turned = (state.angle * Math.PI) / 180;
        return { x: length * Math.cos(turned), y: length * Math.sin(turned) };
      },
    },
  ],

  puzzles: (data) => [
    ["Turn it until another key wins.", (state, { weights }) => {
      const { query, keys } = example(state, data);
      const winner = (values) => values.indexOf(Math.max(...values));
      const before = keys.map((key) => dot(query, key));
      return weights[winner(weights)] - weights[winner(before)] > 0.05;
    }],
    ["Give one key a weight of 0.9.", (state, { weights }) => Math.max(...weights) >= 0.9],
    ["Two equal weights, from a query longer than 2.", (state, numbers) => numbers.length > 2 && leaders(numbers).tie],
    [
      "The output exactly on a value: can you?",
      (state, { weights }) => Math.max(...weights) > 0.95,
      "The output exactly on a value? No: no weight is ever 0.",
    ],
  ],
  round: ({ keys }) => keys,

  legend(state, data) {
    const { d_k, keys } = example(state, data);
    const why = d_k === keys[0].length ? ", the number of features" : "";
    return [
      ["Arrows: keys.", "key"], [" Bands: the query’s shadows (projections).", "query"],
      [" Squares: values.", "value"], [" Dot: the output; thicker line, more weight.", "output"],
      [` dₖ = ${d_k}${why}.`, ""],
    ];
  },

  keys: "On the query, arrow keys move it by 0.1, with Shift by 0.5; a click takes it there.",

  numbers(state, data) {
    const { keys, values, d_k } = example(state, data);
    const query = [state.x, state.y];
    const dots = keys.map((key) => dot(query, key));
    const scores = dots.map((product) => product / Math.sqrt(d_k));
    const weights = softmax(scores);
    const output = [0, 1].map((feature) => weights.reduce((sum, weight, i) => sum + weight * values[i][feature], 0));
    const powers = scores.map(Math.exp);
    const sum = powers.reduce((a, b) => a + b, 0);
    return { query, length: Math.hypot(...query), dots, scores, powers, sum, weights, output };
  },

  layout({ width, height, narrow }, state, data) {
    const { values, reach } = example(state, data);
    const rows = state.keys;
    const top = 22;
    let boxes;
    if (narrow) {
      const [row, gap] = [36, 12];
      const table = rows * row + top + FOOT;
      const side = Math.min(width, (height - table - 2 * top - 2 * gap) * 0.6);
      const below = height - side - table - 2 * top - 2 * gap;
      boxes = {
        keys: { x: 0, y: top, width, height: side },
        table: { x: 0, y: top + side + gap, width, row, top },
        values: { x: 0, y: height - below, width, height: below },
      };
    } else if (width < 640) {
      const side = Math.min(height - top, width * 0.5);
      const [x, row] = [side + 22, 34];
      const under = top + rows * row + FOOT + 10;
      boxes = {
        keys: { x: 0, y: top, width: side, height: side },
        table: { x, y: 0, width: width - x, row, top },
        values: { x, y: under + top, width: width - x, height: height - under - top },
      };
    } else {
      const side = Math.min(height - top, (width - 250) / 2);
      const right = width - side;
      const row = Math.min(76, (height - top - FOOT) / rows);
      boxes = {
        keys: { x: 0, y: top, width: side, height: side },
        table: { x: side + 26, y: 0, width: width - 2 * side - 52, row, top },
        values: { x: right, y: top, width: side, height: side },
      };
    }
    const lows = [0, 1].map((i) => Math.min(0, ...values.map((value) => value[i])));
    const highs = [0, 1].map((i) => Math.max(0, ...values.map((value) => value[i])));
    const margin = 0.3 * Math.max(highs[0] - lows[0], highs[1] - lows[1]) || 1;
    const far = reach * 1.06;
    return {
      narrow,
      table: boxes.table,
      keys: plane(boxes.keys, [-far, -far], [far, far]),
      values: plane(boxes.values, lows.map((low) => low - margin), highs.map((high) => high + margin)),
    };
  },

  draw(pen, state, numbers, layout, data, solved) {
    const { names, keys, values, d_k, features } = example(state, data);
    const { query, dots, scores, powers, weights, output } = numbers;

    // the query among the keys; on each key's line, the query's shadow
    const here = layout.keys;
    const origin = here.put([0, 0]);
    const tip = here.put(query);
    const point = `(${query.map((x) => fixed(x)).join(", ")})`;
    axes(pen, "keys", here, "Query", point, "query", features);
    const taken = { lines: [], names: [] };
    const { first, second, tie } = leaders(numbers);
    let tied;
    if (tie || (solved[2] && keys.length === 2)) {
      const [i, j] = [first, second].sort();
      tied = drawTie(pen, i, j, example(state, data), query, here, taken.lines);
    }
    pen.field("query", here.x, here.y, here.width, here.height);
    keys.forEach((key, i) => {
      const size = dot(key, key);
      if (!size) return;
      const foot = here.put(key.map((x) => (x * dots[i]) / size));
      pen.line(`shadow ${i}`, ...origin, ...foot, "stroke thick query faint");
      pen.line(`plumb ${i}`, ...tip, ...foot, "stroke thin dashed query");
      taken.lines.push([...origin, ...foot], [...tip, ...foot]);
    });
    keys.forEach((key, i) => pen.arrow(`key ${i}`, ...origin, ...here.put(key), "key"));
    pen.line("query line", ...origin, ...tip, "stroke query");
    const reached = (point) => [point[0] - origin[0], point[1] - origin[1]];
    const tips = keys.map(here.put);
    taken.lines.push([...origin, ...tip], ...tips.map((end) => [...origin, ...end]));
    const ring = [tip[0] - 10, tip[1] - 10, tip[0] + 10, tip[1] + 10];
    taken.names.push(ring);
    tips.forEach((end, i) => {
      const [x, y] = reached(end);
      const side = x * reached(tip)[1] - y * reached(tip)[0] > 0 ? -1 : 1; // on the side away from the query
      name(pen, `key name ${i}`, end, [x - 0.8 * side * y, y + 0.8 * side * x], short(names[i]), here, "key", 8, taken);
    });
    name(pen, "query name", tip, reached(tip), "query", here, "query", 15, taken);
    if (tied) {
      name(pen, "tie name", tied.tie[0], [0, 1], tied.tie[1], here, "good", 6, taken);
      name(pen, "difference name", tied.difference[0], tied.away, tied.difference[1], here, "key", 8, taken, true);
    }

    // dot products, and weights from 0 to 1
    const { x, y, width, row, top } = layout.table;
    pen.text("weights title", x, y + top - 7, "Weights", "strong");
    const [dotEnd, scoreEnd] = [x + width - 106, x + width - 56];
    pen.text("weights dot", dotEnd, y + top - 7, "q · k", "small end");
    heading(pen, "weights score", scoreEnd, y + top - 7, "÷ √d", "k", 3);
    heading(pen, "weights power", x + width, y + top - 7, "e", "score", -4);
    names.forEach((text, i) => {
      const middle = y + top + row * i;
      const wide = row > 44;
      const [line, bar, tall] = wide ? [middle + 18, middle + 27, 18] : [middle + 12, middle + 18, 12];
      const room = width - 70;
      pen.text(`row ${i}`, x, line, short(text, width < 300 ? 8 : 12), "strong key");
      pen.text(`dot ${i}`, dotEnd, line, fixed(dots[i]), "small end", `dots.${i}`);
      pen.text(`score ${i}`, scoreEnd, line, fixed(scores[i]), "small quiet end", `scores.${i}`);
      pen.text(`power ${i}`, x + width, line, honest(powers[i]), "small quiet end", `powers.${i}`);
      pen.rect(`track ${i}`, x, bar, room, tall, "track", { rx: 3 });
      pen.rect(`bar ${i}`, x, bar, room * weights[i], tall, "weight fill", { rx: 3 });
      pen.text(`weight ${i}`, x + width, bar + tall - (wide ? 4 : 1), honest(weights[i]), "end strong weight", `weights.${i}`);
    });
    const foot = y + top + row * names.length + FOOT - 5;
    pen.text("softmax", x, foot, width < 300 ? "softmax: ÷ their sum" : "softmax: each divided by the sum", "small weight");
    pen.text("sum", x + width, foot, honest(numbers.sum), "small quiet end", "sum");

    // the output among the values
    const there = layout.values;
    const places = values.map(there.put);
    const out = there.put(output);
    axes(pen, "values", there, "Output", place(output, values), "output");
    const spot = [out[0] - 8, out[1] - 8, out[0] + 8, out[1] + 8];
    const pulled = { lines: places.map((end) => [...end, ...out]), names: [spot] };
    const corners = around(values).map(there.put);
    pen.path("region", `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, "value tint");
    pen.path("edge", `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, "stroke thin value");
    const centre = [0, 1].map((i) => places.reduce((sum, place) => sum + place[i], 0) / places.length);
    places.forEach(([px, py], i) => {
      pen.put(`pull ${i}`, "line", {
        x1: px, y1: py, x2: out[0], y2: out[1], class: "stroke output", "stroke-opacity": 0.75,
        style: `stroke-width: ${(1 + 7 * weights[i]).toFixed(2)}px`,
      });
      pen.rect(`value ${i}`, px - 6, py - 6, 12, 12, "value fill");
      name(pen, `value name ${i}`, [px, py], [px - centre[0], py - centre[1]], short(names[i]), there, "value", 10, pulled);
    });
    pen.circle("output", ...out, 8, "output fill", { stroke: "var(--ground)" });

    pen.handle("query", ...tip, "query");
  },

  say(state, numbers, data) {
    const { query, length, weights, output } = numbers;
    const { names, keys, values, reach } = example(state, data);
    const { first, second, tie } = leaders(numbers);
    const difference = keys[first].map((x, i) => x - keys[second][i]);
    const aside = dot(query, difference) < 0.98 * length * Math.hypot(...difference); // more than 11 degrees off
    let meaning = `Its direction fits ${names[first]} best: weight ${honest(weights[first])}.`;
    if (length < 1e-9) meaning = "A query of length 0 asks nothing: all weights are equal.";
    else if (tie)
      meaning = `At right angles to the difference of ${names[first]} and ${names[second]}, it cannot choose between them, however long it is.`;
    else if (weights[first] > 0.95)
      meaning = `Nearly all the weight is on ${names[first]}: ${fixed(weights[first], 4)}. The output comes close to its value and never reaches it, since no weight is 0.`;
    else if (length < reach - FARTHEST) meaning += " Longer, it would choose more firmly.";
    else if (weights[first] < 0.9 && aside)
      meaning += ` It can't get longer here. What about towards ${names[first]} and away from ${names[second]} at once?`;
    const shares = names.map((text, i) => `${text} ${honest(weights[i])}`).join(", ");
    const point = query.map((x) => fixed(x)).join(", ");
    return `${meaning} Query (${point}), length ${fixed(length)}. Weights: ${shares}. Output ${place(output, values)}.`;
  },

  handles: (data) => ({
    query: {
      label: "Query",
      min: 0,
      max: 360,
      now: ({ angle }) => Math.round(angle),
      text: ({ x, y }) => `${fixed(x)} and ${fixed(y)}, length ${fixed(Math.hypot(x, y))}`,
      by(state, dx, dy, large) {
        const far = large ? 5 * STEP : STEP;
        return at(state.x + far * dx, state.y + far * dy, example(state, data).reach, state);
      },
      to(state, px, py, layout) {
        return dragged(...layout.keys.read(px, py), example(state, data).reach, state);
      },
    },
  }),
});
