// What bertviz's views don't say by themselves: the numbers of the token, the head or the cell that the mouse is on.
// `bertviz` is the view's own state: its patched script hands it over. Words go in by textContent only.

const vis = document.querySelector("#vis");
const said = document.querySelector("#said");
const fixed = x => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "\u2212"));
const held = () => bertviz.attention[bertviz.filter];
const place = element => [...element.parentNode.children].indexOf(element);
const sum = numbers => numbers.reduce((a, b) => a + b, 0);

function sentence(words, others, weights, whose) {
  const strongest = weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const listed = strongest.map(([weight, i]) => `${others[i]} ${fixed(weight)}`).join(", ");
  said.textContent = `${words} ${listed}${whose}`;
}

function write(items, weights, side) {
  vis.querySelectorAll(".number").forEach(number => number.remove());
  items.forEach((item, i) => {
    const box = item.querySelector("rect"), text = document.createElementNS(vis.firstChild.namespaceURI, "text");
    const x = +box.getAttribute("x") + (side === "right" ? +box.getAttribute("width") - 2 : 2);
    text.setAttribute("class", "number");
    text.setAttribute("x", x);
    text.setAttribute("y", +box.getAttribute("y") + +box.getAttribute("height") / 2);
    text.style.fontSize = `${Math.min(12, 0.8 * box.getAttribute("height"))}px`;
    text.setAttribute("text-anchor", side === "right" ? "end" : "start");
    text.textContent = fixed(weights[i]);
    item.append(text);
  });
}

function quiet() {
  vis.querySelectorAll(".number").forEach(number => number.remove());
  said.textContent = "";
}

// Head view: the weights of the token under the mouse; with several heads on, their mean.
const inHeadView = {
  over(target) {
    const item = target.closest("#left > g:last-child > g, #right > g:last-child > g");
    if (!item) return;
    const isLeft = Boolean(item.closest("#left")), i = place(item), data = held();
    const on = bertviz.headVis.flatMap((isOn, head) => (isOn ? [head] : []));
    const maps = on.map(head => data.attn[bertviz.layer_seq][head]);
    const others = isLeft ? data.right_text : data.left_text;
    const weights = others.map((_, j) => sum(maps.map(map => (isLeft ? map[i][j] : map[j][i]))) / on.length);
    write([...vis.querySelectorAll(`#${isLeft ? "right" : "left"} > g:last-child > g`)], weights, isLeft ? "right" : "left");
    const whose = on.length > 1 ? ` (mean of ${on.length} heads)` : ` (head ${on[0]})`;
    sentence(isLeft ? `${data.left_text[i]} looks at:` : `${data.right_text[i]} is looked at by:`, others, weights, whose);
  },
  out: target => target.closest("#left, #right") && quiet(),
  drawn() {
    const squares = vis.querySelector("svg > g:last-child");
    squares.querySelectorAll("rect").forEach((square, head) => {
      const text = document.createElementNS(squares.namespaceURI, "text"), side = +square.getAttribute("width");
      text.setAttribute("class", "name");
      text.setAttribute("x", +square.getAttribute("x") + side / 2);
      text.setAttribute("y", side / 2);
      text.textContent = head;
      squares.append(text);
    });
  },
};

// Model view: of a small picture its strongest link, in the enlarged one the weights of a token.
const inModelView = {
  over(target) {
    const item = target.closest("g.detail > g");
    const texts = [...vis.querySelectorAll("g.detail")].filter(group => group.querySelector("text"));
    if (item && item.parentNode === texts[0]) {
      const weights = held().attn[bertviz.detail_layer][bertviz.detail_head][place(item)];
      write([...texts[1].children], weights, "right");
      sentence(`${held().left_text[place(item)]} looks at:`, held().right_text, weights, "");
      return;
    }
    const small = target.closest("svg > g:not(.detail)");
    if (!small || item) return;
    const number = [...vis.querySelectorAll("svg > g:not(.detail)")].indexOf(small);
    const [layer, head] = [Math.floor(number / bertviz.numHeads), number % bertviz.numHeads];
    const links = held().attn[layer][head].flatMap((row, i) => row.map((weight, j) => [weight, i, j]));
    const [weight, i, j] = links.reduce((a, b) => (b[0] > a[0] ? b : a));
    said.textContent =
      `Layer ${bertviz.layers[layer]}, head ${bertviz.heads[head]}: strongest is ` +
      `${held().left_text[i]} \u2192 ${held().right_text[j]} ${fixed(weight)}`;
  },
  out: target => target.closest("svg > g") && quiet(),
  drawn() {},
};

// Neuron view: the weights of the query that was last under the mouse, and any of its small squares as a number.
const inNeuronView = {
  over(target) {
    const token = target.closest("#leftText > g"), square = target.closest("[data-value]");
    if (token) {
      const weights = held().attn[bertviz.layer][bertviz.head][place(token)];
      write([...token.closest("#collapsed, #expanded").querySelectorAll("#rightText > g")], weights, "right");
      sentence(`${held().left_text[place(token)]} looks at:`, held().right_text, weights, "");
    } else if (square) {
      const value = +square.dataset.value;
      const vector = square.closest(".vector"), what = { queries: "query", keys: "key", product: "query \u00d7 key" };
      said.textContent = vector
        ? `${what[vector.parentNode.parentNode.id]}, ${held().left_text[+vector.dataset.index]}, ` +
          `number ${place(square) - 1}: ${fixed(value)}`
        : `score, ${held().right_text[place(square)]}: ${fixed(value)}`;
    }
  },
  out(target) {
    if (target.closest("#collapsed #leftText")) quiet(); // expanded, the last token stays, so that its squares can be read
  },
  drawn() {
    if (bertviz.index == null) return; // of the token that the still picture shows: until the mouse is on another
    const rows = [...vis.querySelectorAll("#expanded #rightText > g")];
    write(rows, held().attn[bertviz.layer][bertviz.head][bertviz.index], "right");
  },
};

const view = { head: inHeadView, model: inModelView, neuron: inNeuronView }[document.body.dataset.view];
vis.addEventListener("mouseover", event => view.over(event.target));
vis.addEventListener("mouseout", event => view.out(event.target));
new MutationObserver(view.drawn).observe(vis, { childList: true });
view.drawn();
