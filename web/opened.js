// Trees as tables that open and close.
import { make } from './dom.js';
import { mostOf } from './sums.js';
import { table } from './table.js';

/** Places that are open at first, the most expensive ones. */
const OPENED = 50;

/** Places in pre-order: `last` is the last one below each; what is not wanted is left out with all below it.
 * @param {{label: string, roots: number[], last: Int32Array, depth: Int32Array, cost: (place: number) => number, isLarge: (place: number) => boolean, isWanted?: (place: number) => boolean, handle?: import('./actions.js').Handle, columns: import('./table.js').Column[]}} of */
export function treeTable({ label, roots, last, depth, cost, isLarge, isWanted = () => true, handle, columns }) {
  const open = new Set();
  const size = (/** @type {number} */ place) => Math.abs(cost(place));
  const candidates = mostOf(roots.filter(isWanted), size, OPENED);
  for (let count = 0; count < OPENED && candidates.length > 0; count++) {
    let best = 0;
    candidates.forEach((place, at) => {
      if (size(place) > size(candidates[best])) best = at;
    });
    const [place] = candidates.splice(best, 1);
    if (last[place] === place || !isLarge(place)) continue;
    open.add(place);
    for (let below = place + 1; below <= last[place]; below = last[below] + 1) if (isWanted(below)) candidates.push(below);
  }
  const element = make('section', { class: 'tree', 'aria-label': label });
  const show = (/** @type {number} */ focused, /** @type {number} */ top) => {
    /** @type {number[]} */
    const items = [];
    // Roots of all items, of which few are seen.
    /** @type {number[]} */
    const above = [];
    for (const root of roots) {
      for (let place = root; place <= last[root]; ) {
        const isShown = isWanted(place);
        if (isShown) {
          items.push(place);
          above.push(root);
        }
        place = isShown && open.has(place) ? place + 1 : last[place] + 1;
      }
    }
    const isOpen = (/** @type {number} */ place) => (last[place] > place ? open.has(place) : null);
    const toggle = (/** @type {number} */ place, /** @type {boolean | 'all' | undefined} */ wanted) => {
      const is = isOpen(place);
      if (is === null || is === wanted) return;
      if (wanted === 'all') for (let below = place; below < last[place]; below++) open.add(below);
      else if (is) open.delete(place);
      else open.add(place);
      show(items.indexOf(place), element.firstElementChild.scrollTop);
    };
    const rows = /** @type {any} */ (table({ label, items, handle, columns, isOpen, toggle, depth: (place, at) => depth[place] - depth[above[at]] }));
    element.replaceChildren(rows);
    rows.scrollTop = top;
    if (focused >= 0) rows.goTo(focused);
  };
  show(-1, 0);
  return element;
}
