// A pie of costs. The table of the same rows has every figure; small pieces are one.
import { div, gestures, make, note, span } from './dom.js';
import { percent } from './numbers.js';
import { shown } from './texts.js';

/** Colours that can be told apart by everybody (Okabe and Ito), and lighter ones after them. */
const COLOURS = ['#56b4e9', '#e69f00', '#009e73', '#f0e442', '#cc79a7', '#0072b2', '#d55e00', '#9ad0f2', '#f3c766', '#66c5ab', '#f6ee8e', '#e0aeca'];

/** Pieces have at least this share. */
const SMALL = 0.01;

/** Rows are in the order of their costs; `costs` are all of them in any order.
 * @param {{label: string, costs: ArrayLike<number | null>, name: (row: number) => string, cost: (row: number) => number, share: (cost: number) => number | null, isSelected: (row: number) => boolean, handle: import('./actions.js').Handle}} of @returns {HTMLElement} */
export function pie(of) {
  let [sum, below, count] = [0, 0, 0];
  for (let at = 0; at < of.costs.length; at++) {
    const cost = of.costs[at] ?? 0;
    if (cost > 0) [sum, count] = [sum + cost, count + 1];
    else if (cost < 0) below -= cost;
  }
  // What a timer costs itself is taken from times, and may leave a little less than nothing: no larger than a small piece.
  if (below > 0 && below >= SMALL * sum) return note('Negative costs have no slice; the table lists all costs.');
  if (count === 0) return note('Nothing here has an exclusive cost.');
  let large = 0;
  while (large < Math.min(count, COLOURS.length) && of.cost(large) >= SMALL * sum) large++;
  const rest = count - large;
  const picture = make('svg', { viewBox: '-100 -100 200 200', role: 'group', 'aria-label': of.label });
  const labels = make('ol', { class: 'legend', 'aria-label': `${of.label}: slices` });
  let angle = 0;
  const all = [...Array(large + (rest === 1 ? 1 : 0)).keys()];
  // One piece is reached by Tab, and the others from there.
  const first = all.find(of.isSelected) ?? 0;
  const point = (/** @type {number} */ at) => `${(98 * Math.sin(at)).toFixed(3)} ${(-98 * Math.cos(at)).toFixed(3)}`;
  const piece = (/** @type {number} */ cost, /** @type {string} */ colour, /** @type {string} */ name, /** @type {number | null} */ part, /** @type {number} */ row) => {
    const share = `${percent(part)} %`;
    const text = `${name} ${share}`;
    const to = angle + (2 * Math.PI * cost) / sum;
    const isWhole = cost >= sum * 0.99999;
    const outline = isWhole ? 'M 0 -98 A 98 98 0 1 1 -0.01 -98 Z' : `M 0 0 L ${point(angle)} A 98 98 0 ${to - angle > Math.PI ? 1 : 0} 1 ${point(to)} Z`;
    const isOne = row >= 0;
    const common = {
      'data-row': isOne ? row : null,
      'aria-pressed': isOne ? String(of.isSelected(row)) : null,
      tabindex: isOne ? (row === first ? 0 : -1) : null,
      role: isOne ? 'button' : 'img',
      'aria-label': text,
    };
    const slice = make('path', { d: outline, fill: colour, class: 'slice', ...common }, make('title', { text }));
    const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
    swatch.style.background = colour;
    // The name is cut short where there is no room for all of it, its share never.
    labels.append(make('li', { 'data-row': isOne ? row : null, title: text }, swatch, span('label-of', span('name', name), ` ${share}`)));
    picture.append(slice);
    angle = to;
  };
  let left = sum;
  for (let row = 0; row < large; row++) {
    const cost = of.cost(row);
    left -= cost;
    piece(cost, COLOURS[row], shown(of.name(row)), of.share(cost), row);
  }
  if (rest === 1) piece(of.cost(large), '#999999', shown(of.name(large)), of.share(of.cost(large)), large);
  else if (rest > 1) piece(Math.max(left, 0), '#999999', `${rest} others`, of.share(left), -1);
  const box = div('pie', picture, labels);
  const rowOf = (/** @type {Event} */ event) => {
    const element = /** @type {Element} */ (event.target).closest('[data-row]');
    return element ? Number(element.getAttribute('data-row')) : null;
  };
  gestures(box, rowOf, of.handle, {
    pressed(_, event) {
      const slices = [...picture.querySelectorAll('[tabindex]')];
      const at = slices.indexOf(event.target);
      const last = slices.length - 1;
      const to = { ArrowRight: at < last ? at + 1 : 0, ArrowDown: at < last ? at + 1 : 0, ArrowLeft: at > 0 ? at - 1 : last, ArrowUp: at > 0 ? at - 1 : last, Home: 0, End: last }[event.key];
      if (to === undefined) return false;
      for (const slice of slices) slice.setAttribute('tabindex', '-1');
      slices[to].setAttribute('tabindex', '0');
      slices[to].focus();
      return true;
    },
  });
  return box;
}
