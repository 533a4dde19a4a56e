// Boxes on a canvas: as wide as their cost, each below (or above) the one that called it. Only what is seen is drawn, and
// nothing that is narrower than half a pixel.
import { div, gestures, make, onceSeen } from './dom.js';
import { shown } from './texts.js';

/** @typedef {{count: number, index: Int32Array, x: Float64Array, width: Float64Array, depth: Int32Array, end: Int32Array, parent: Int32Array, total: number, depths: number, name: (at: number) => string, colour: (at: number) => number}} Boxes Callers come before what they called; `end` is the first box that is not below; `index` is its number before they were put into order, `REST` for many together. */

/** Height of a box with the space below it. */
export const LEVEL = 20;

/** Levels of a page. */
const PAGE = 10;

/** Narrower boxes are not drawn, but what is left of them is marked. */
const NARROW = 0.5;

/** Warm colours on which black can be read. */
const WARM = ['#f4b183', '#f6c48f', '#f2d08b', '#f7de9c', '#eeb4a2', '#f0a58f', '#e8c4a0', '#f9d3b4', '#edd6a3', '#f1bd77', '#f5cdbf', '#e6b88a'];

const FOUND = '#c58cff';
const MARKED = '#8fc7f5';

/** The number of a box that stands for many that are too narrow to be seen. */
const REST = -1;

/** A picture of boxes. */
export class Picture {
  /** @param {{label: string, isUp: boolean, paint?: (at: number) => string, isMarked?: (at: number) => boolean, sign?: (at: number) => string, isHatched?: (at: number) => boolean, handle: import('./actions.js').Handle, describe: (at: number) => string, zoomed: (at: number) => void, pixels?: number, levels?: number, whole?: (at: number) => {boxes: Boxes, at: number}}} of Pictures of no more pixels are shown a part of their boxes, `levels` are those that are seen at once, and `whole` gives all of them, with the number there of one that has the focus. */
  constructor(of) {
    this.of = of;
    this.canvas = make('canvas', { role: 'img', tabindex: 0, 'aria-label': of.label, 'aria-roledescription': 'flame graph' });
    this.space = div('space');
    this.box = div('picture', this.canvas, this.space);
    this.said = make('p', { class: 'about', 'aria-live': 'polite', text: ' ' });
    this.element = div('pictured', this.box, this.said);
    /** @type {Boxes | null} */
    this.boxes = null;
    this.zoom = -1;
    this.at = -1;
    /** Levels that there is room for, as last looked at: asking the browser for each box would take longer than drawing it. */
    this.rows = 0;
    /** Width and height that were painted last. */
    this.painted = [-1, -1];
    /** @type {(at: number) => boolean} */
    this.isFound = () => false;
    this.isAsked = false;
    this.isPart = of.whole !== undefined && of.pixels !== Infinity;
    this.listen();
  }

  listen() {
    const { canvas, box, of } = this;
    // It is told the first size as well, which has been painted by then, and that the picture has gone.
    new ResizeObserver(() => {
      if (!box.isConnected) return;
      if (box.clientWidth !== this.painted[0] || box.clientHeight !== this.painted[1]) this.draw();
    }).observe(box);
    box.addEventListener('scroll', () => this.draw());
    canvas.addEventListener('mousemove', (/** @type {MouseEvent} */ event) => {
      const at = this.hit(event);
      if (at >= 0) this.say(at);
      canvas.title = at >= 0 ? of.describe(at) : '';
    });
    const find = (/** @type {any} */ event) => {
      if (event.type === 'keydown') {
        // Keys lead to boxes that cannot be seen as well.
        this.complete();
        return this.boxes?.count ? Math.max(this.at, 0) : null;
      }
      // The second click is on the box of the first one, wherever that is by now.
      if (event.detail === 2 && this.at >= 0) return this.at;
      const at = this.hit(event);
      if (at < 0) return null;
      this.focus(at, false);
      return at;
    };
    gestures(canvas, find, of.handle, {
      clicked(at, { detail, altKey }) {
        if (detail < 2) of.zoomed(at);
        else if (detail === 2) of.handle.open?.(at, altKey, true);
        return true;
      },
      pressed: (at, event) => {
        const boxes = /** @type {Boxes} */ (this.boxes);
        const [inner, outer] = of.isUp ? ['ArrowUp', 'ArrowDown'] : ['ArrowDown', 'ArrowUp'];
        const steps = { PageDown: of.isUp ? -PAGE : PAGE, PageUp: of.isUp ? PAGE : -PAGE, Home: -Infinity, End: Infinity }[event.key];
        if (this.at < 0 && event.key.startsWith('Arrow')) this.focus(Math.max(this.zoom, 0), true);
        else if (steps !== undefined) this.focus(this.along(at, steps), true);
        else if (event.key === inner) this.focus(at + 1 < boxes.end[at] ? at + 1 : at, true);
        else if (event.key === outer) this.focus(Math.max(boxes.parent[at], 0), true);
        else if (event.key === 'ArrowRight') this.focus(this.sibling(at, 1), true);
        else if (event.key === 'ArrowLeft') this.focus(this.sibling(at, -1), true);
        else if (event.key === ' ' || event.key === 'z' || (event.key === 'Enter' && event.shiftKey)) of.zoomed(at);
        else if (event.key === 'Escape' && this.zoom >= 0) of.zoomed(-1);
        else return event.key === 'Enter' && this.at < 0;
        return true;
      },
    });
  }

  /** @param {Boxes} boxes @param {number} zoom A box to be as wide as the picture, -1 for none. */
  show(boxes, zoom) {
    const isFirst = this.boxes === null;
    this.boxes = boxes;
    this.zoom = zoom;
    this.space.style.height = `${boxes.depths * LEVEL}px`;
    const most = this.of.levels ?? Math.max(22, Math.floor((0.7 * innerHeight) / LEVEL));
    this.box.style.height = `${Math.min(Math.max(boxes.depths, 3) * LEVEL + 2, most * LEVEL)}px`;
    if (zoom >= 0 && this.at < 0) this.focus(zoom, false);
    if (zoom >= 0) onceSeen(this.box, () => this.reveal(zoom));
    // Roots are where a picture begins to be looked at.
    else if (isFirst && this.of.isUp) onceSeen(this.box, () => (this.box.scrollTop = this.box.scrollHeight));
    this.draw();
  }

  /** Has all boxes from now on, also those that are too narrow to be seen. */
  complete() {
    const { of } = this;
    if (!this.isPart || !this.boxes || !of.whole) return;
    this.isPart = false;
    ({ boxes: this.boxes, at: this.at } = of.whole(this.at));
    this.draw();
  }

  /** Looks how large the picture is, and says where boxes are drawn: the cost at the left edge, and pixels for each of the unit. */
  view() {
    const { boxes, zoom } = this;
    const width = this.box.clientWidth;
    this.rows = Math.max(boxes?.depths ?? 0, Math.floor(this.box.clientHeight / LEVEL));
    if (!boxes || boxes.total === 0) return { left: 0, scale: 0, width };
    const [left, span] = zoom >= 0 ? [boxes.x[zoom], boxes.width[zoom]] : [0, boxes.total];
    return { left, scale: span > 0 ? width / span : 0, width };
  }

  /** Rows from the top of the whole picture to a level. @param {number} depth */
  rowOf(depth) {
    return this.of.isUp ? this.rows - 1 - depth : depth;
  }

  draw() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.paint();
    });
  }

  paint() {
    const { canvas, box, of } = this;
    if (box.clientWidth > (of.pixels ?? Infinity)) this.complete();
    const { boxes } = this;
    if (!boxes) return;
    const { left, scale, width } = this.view();
    const [height, scrolled] = [box.clientHeight, box.scrollTop];
    this.painted = [width, height];
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext('2d');
    if (!pen) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const narrow = style.getPropertyValue('--narrow');
    /** @type {Map<string, number[]>} */
    const painted = new Map();
    /** @type {[number, number, number, string][]} */
    const texts = [];
    /** @type {Map<number, number>} */
    const marked = new Map();
    /** @type {number[]} */
    const hatched = [];
    const put = (/** @type {string} */ colour, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ wide) => {
      let same = painted.get(colour);
      if (!same) painted.set(colour, (same = []));
      same.push(x, y, wide);
    };
    for (let at = 0; at < boxes.count; ) {
      const from = (boxes.x[at] - left) * scale;
      const wide = boxes.width[at] * scale;
      if (from >= width || from + wide <= 0) {
        at = boxes.end[at];
        continue;
      }
      const top = this.rowOf(boxes.depth[at]) * LEVEL - scrolled;
      const isSeen = top > -LEVEL && top < height;
      if (boxes.index[at] === REST) {
        // A mark for each pixel, as those have that are narrow one by one.
        const [start, end] = [Math.max(Math.floor(from), (marked.get(top) ?? -1) + 1), Math.ceil(Math.min(from + wide, width))];
        if (isSeen && end > start) {
          marked.set(top, end - 1);
          put(narrow, start, top, end - start);
        }
        at++;
        continue;
      }
      if (wide < NARROW) {
        const pixel = Math.floor(from);
        if (isSeen && (marked.get(top) ?? -1) < pixel) {
          marked.set(top, pixel);
          put(narrow, pixel, top, 1);
        }
        at = boxes.end[at];
        continue;
      }
      if (isSeen) {
        const start = Math.max(0, Math.round(from));
        const end = Math.min(width, Math.max(Math.round(from + wide), start + 1));
        const room = Math.max(end - start - (end - start > 3 ? 1 : 0), 1);
        put(this.isFound(at) ? FOUND : this.of.isMarked?.(at) ? MARKED : (this.of.paint?.(at) ?? WARM[boxes.colour(at) % WARM.length]), start, top, room);
        if (room > 3 && this.of.isHatched?.(at)) hatched.push(start, top, room);
        marked.set(top, end);
        if (end - start >= 30) texts.push([start + 4, top + LEVEL / 2, end - start - 8, `${this.of.sign?.(at) ?? ''}${shown(boxes.name(at))}`]);
      }
      at++;
    }
    for (const [colour, rectangles] of painted) {
      pen.fillStyle = colour;
      for (let at = 0; at < rectangles.length; at += 3) pen.fillRect(rectangles[at], rectangles[at + 1], rectangles[at + 2], LEVEL - 1);
    }
    if (hatched.length > 0) hatch(pen, hatched);
    pen.font = '12px ui-monospace, monospace';
    pen.textBaseline = 'middle';
    pen.fillStyle = '#000000';
    const letter = pen.measureText('m').width;
    for (const [x, y, room, text] of texts) pen.fillText(cut(text, Math.floor(room / letter)), x, y);
    if (this.at >= 0 && this.at < boxes.count) {
      const from = Math.max(0, (boxes.x[this.at] - left) * scale);
      const to = Math.min(width, (boxes.x[this.at] + boxes.width[this.at] - left) * scale);
      pen.strokeStyle = style.color;
      pen.lineWidth = 2;
      pen.strokeRect(from + 1, this.rowOf(boxes.depth[this.at]) * LEVEL - box.scrollTop + 1, Math.max(to - from - 2, 1), LEVEL - 3);
    }
  }

  /** The box at a place of the window; -1 if there is none. @param {MouseEvent} event @returns {number} */
  hit(event) {
    const { boxes } = this;
    if (!boxes) return -1;
    const { left, scale } = this.view();
    const place = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - place.top + this.box.scrollTop) / LEVEL);
    const cost = left + (event.clientX - place.left) / scale;
    for (let at = 0; at < boxes.count; ) {
      if (cost < boxes.x[at] || cost >= boxes.x[at] + boxes.width[at]) at = boxes.end[at];
      else if (boxes.index[at] === REST) {
        this.complete();
        return this.hit(event);
      } else if (this.rowOf(boxes.depth[at]) === row) return at;
      else at++;
    }
    return -1;
  }

  /** The next box with the same caller that can be seen. @param {number} at @param {1 | -1} step */
  sibling(at, step) {
    const { boxes } = this;
    if (!boxes) return at;
    const above = boxes.parent[at];
    let before = -1;
    for (let other = above + 1; other < (above < 0 ? boxes.count : boxes.end[above]); other = boxes.end[other]) {
      if (step < 0 && other === at) return before < 0 ? at : before;
      if (step > 0 && before === at) return other;
      before = other;
    }
    return at;
  }

  /** The box so many levels further in, or out: of those that one has called, the first. @param {number} at @param {number} steps */
  along(at, steps) {
    const { boxes } = this;
    for (let left = Math.abs(steps); boxes && left > 0; left--) {
      const to = steps < 0 ? boxes.parent[at] : at + 1 < boxes.end[at] ? at + 1 : -1;
      if (to < 0) break;
      at = to;
    }
    return at;
  }

  /** Goes to the next box that a search has found, and tells whether there is one. @param {1 | -1} step */
  next(step) {
    const { boxes } = this;
    const count = boxes?.count ?? 0;
    for (let by = 1; boxes && by <= count; by++) {
      const at = (Math.max(this.at, step < 0 ? 0 : -1) + step * by + count) % count;
      if (!this.isFound(at)) continue;
      const { x, width, total } = boxes;
      const [left, right] = this.zoom < 0 ? [0, total] : [x[this.zoom], x[this.zoom] + width[this.zoom]];
      if (x[at] >= right || x[at] + width[at] <= left) this.of.zoomed(-1);
      this.focus(at, true);
      return true;
    }
    return false;
  }

  /** @param {number} at @param {boolean} isByKey */
  focus(at, isByKey) {
    this.at = at;
    this.say(at);
    if (isByKey) {
      this.reveal(at);
      this.of.handle.select?.(at);
    }
    this.draw();
  }

  /** Scrolls to a box. @param {number} at */
  reveal(at) {
    this.view();
    const top = this.rowOf(this.boxes?.depth[at] ?? 0) * LEVEL;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + LEVEL > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + LEVEL - this.box.clientHeight;
  }

  /** @param {number} at */
  say(at) {
    this.said.textContent = this.of.describe(at);
  }
}

/** Lines across boxes. @param {CanvasRenderingContext2D} pen @param {number[]} boxes Left edges, upper edges and widths. */
function hatch(pen, boxes) {
  pen.save();
  pen.beginPath();
  for (let at = 0; at < boxes.length; at += 3) pen.rect(boxes[at], boxes[at + 1], boxes[at + 2], LEVEL - 1);
  pen.clip();
  pen.beginPath();
  for (let at = 0; at < boxes.length; at += 3) {
    const [left, top, wide] = [boxes[at], boxes[at + 1], boxes[at + 2]];
    for (let x = left - (left % 8) - 24; x < left + wide; x += 8) {
      pen.moveTo(x, top + LEVEL);
      pen.lineTo(x + LEVEL, top);
    }
  }
  pen.strokeStyle = '#00000038';
  pen.lineWidth = 1;
  pen.stroke();
  pen.restore();
}

/** A text of so many columns at most. @param {string} text @param {number} columns */
function cut(text, columns) {
  let width = 0;
  let kept = '';
  for (const letter of text) {
    width += (letter.codePointAt(0) ?? 0) >= 0x2e80 ? 2 : 1;
    if (width > columns) return `${kept.slice(0, -1)}…`;
    kept += letter;
  }
  return text;
}

/** So many are put into order one by one. */
const FEW_CALLED = 20;

/** Puts the first of a list into order, what costs most first, and what costs as much in the order that it has.
 * @param {Int32Array} list @param {number} count @param {Float64Array} cost */
function insertByCost(list, count, cost) {
  for (let next = 1; next < count; next++) {
    const one = list[next];
    const of = cost[one];
    let at = next;
    for (; at > 0 && cost[list[at - 1]] < of; at--) list[at] = list[at - 1];
    list[at] = one;
  }
}

/** The same for many of them: costs are sorted without calls, and each finds its place among them.
 * @param {Int32Array} list @param {Float64Array} cost */
function sortByCost(list, cost) {
  const keys = new Float64Array(list.length);
  for (let at = 0; at < keys.length; at++) {
    const of = cost[list[at]];
    keys[at] = Number.isNaN(of) ? Infinity : -of;
  }
  const sorted = keys.toSorted();
  // How many of a key have their place already.
  const placed = new Int32Array(list.length);
  const ordered = new Int32Array(list.length);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at];
    let [from, to] = [0, keys.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle] < key) from = middle + 1;
      else to = middle;
    }
    ordered[from + placed[from]++] = list[at];
  }
  list.set(ordered);
}

/** Boxes side by side: those of one caller by cost, by name or in their order. Callers come before what they called. Beside them
 * is what others cost that are no boxes, by caller, of which the first is none: together they are one.
 * @param {{count: number, parent: Int32Array, cost: Float64Array, rest?: Float64Array, name: (at: number) => string, colour: (at: number) => number}} of
 * @param {string} order @returns {Boxes} */
export function arrange({ count, parent, cost, rest, name, colour }, order) {
  const byName = (/** @type {number} */ one, /** @type {number} */ other) => (name(one) < name(other) ? -1 : name(one) > name(other) ? 1 : one - other);
  // How many boxes are below each, and one more than the first of them and than the next one of the same caller: 0 for none.
  const [below, first, next] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  let firstRoot = 0;
  let boxes = count + (rest && rest[0] > 0 ? 1 : 0);
  for (let at = count - 1; at >= 0; at--) {
    const caller = parent[at];
    if (rest && rest[at + 1] > 0) {
      below[at]++;
      boxes++;
    }
    if (caller < 0) {
      next[at] = firstRoot;
      firstRoot = at + 1;
    } else {
      below[caller] += below[at] + 1;
      next[at] = first[caller];
      first[caller] = at + 1;
    }
  }
  const index = new Int32Array(boxes);
  const [x, width] = [new Float64Array(boxes), new Float64Array(boxes)];
  const [depth, end, above] = [new Int32Array(boxes), new Int32Array(boxes), new Int32Array(boxes)];
  const place = new Int32Array(count);
  let [depths, total] = [0, 0];
  let called = new Int32Array(64);
  // The roots first, and then what each has called: its callees come right after it, each with all below it.
  for (let caller = -1; caller < count; caller++) {
    let many = 0;
    for (let at = (caller < 0 ? firstRoot : first[caller]) - 1; at >= 0; at = next[at] - 1) {
      if (many === called.length) {
        const more = new Int32Array(2 * many);
        more.set(called);
        called = more;
      }
      called[many++] = at;
    }
    const beside = rest ? rest[caller + 1] : 0;
    if (many === 0 && beside <= 0) continue;
    if (many > 1 && order === 'cost') {
      if (many > FEW_CALLED) sortByCost(called.subarray(0, many), cost);
      else insertByCost(called, many, cost);
    } else if (many > 1 && order === 'name') called.subarray(0, many).sort(byName);
    const of = caller < 0 ? -1 : place[caller];
    const level = of < 0 ? 0 : depth[of] + 1;
    if (level >= depths) depths = level + 1;
    const right = of < 0 ? Infinity : x[of] + width[of];
    let left = of < 0 ? 0 : x[of];
    let to = of + 1;
    for (let which = 0; which < many; which++) {
      const at = called[which];
      const own = cost[at];
      place[at] = to;
      index[to] = at;
      // What costs more than its caller has left ends where that does.
      const start = left < right ? left : right;
      const room = right - start;
      x[to] = start;
      width[to] = own > 0 ? (own < room ? own : room) : 0;
      depth[to] = level;
      above[to] = of;
      if (own > 0) left += own;
      to = end[to] = to + below[at] + 1;
    }
    if (beside > 0) {
      index[to] = REST;
      x[to] = left < right ? left : right;
      width[to] = beside < right - x[to] ? beside : right - x[to];
      depth[to] = level;
      above[to] = of;
      end[to] = to + 1;
      left += beside;
    }
    if (of < 0) total = left;
  }
  return { index, count: boxes, x, width, depth, end, parent: above, total, depths, name: (at) => name(index[at]), colour: (at) => colour(index[at]) };
}
