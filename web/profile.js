// Runs of the page: names, figures of the whole run, trees and source, each unpacked when it is first asked for.
import { POWERS, Reader, block, json } from './bytes.js';
import { placesOf } from './places.js';
import { Sums } from './sums.js';
import { Unanswered, plain } from './texts.js';

/** @typedef {{metric_id: number, name: string, unit: string, total: number, timer_readings: boolean, recorded: boolean}} Metric Recorded: the file itself states own costs of functions. */
/** @typedef {{id: number[], kind: string[], name: string[], module: string[], file: string[], line: number[], column: number[], line_files: string[]}} Names */
/** @typedef {{caller: number, callee: number, file: string, line: number, col: number, isBack: boolean, calls: number, exclusive: number, cumulative: number, isOther: boolean, outermost: number}} Edge Caller -1 for the root, file '' for the caller's own, line -1 if unknown. */
/** @typedef {{count: number, function: Int32Array, file: string[], line: Float64Array, col: Float64Array}} Lines File is '' for the function's own. */
/** @typedef {{places: [number, string, number][], texts: [number, string][][]}} Sources */

/** What stands for places that were left out. */
export const LEFT_OUT = '(left out)';

/** The tree of calls in pre-order: places by number. */
export class Tree {
  /** @param {number} count */
  constructor(count) {
    this.count = count;
    this.depth = new Int32Array(count);
    /** Function of the place, and of its line. */
    this.function = new Int32Array(count);
    /** Number of its line; -1 in places of functions. */
    this.line = new Int32Array(count);
    this.parent = new Int32Array(count);
    /** The last place below. */
    this.last = new Int32Array(count);
    this.calls = new Float64Array(count);
    /** Whether calls are known of any. */
    this.hasCalls = false;
    /** Its number in the whole tree, of which this one may be what a label leaves. */
    this.number = new Int32Array(count);
    for (let at = 0; at < count; at++) this.number[at] = at;
    /** The places of functions, those of one together and in order, and where those of each begin. @type {{places: Int32Array, starts: Int32Array} | null} */
    this.byFunction = null;
    /** @type {{level: Int32Array, deepest: Int32Array, functions: Int32Array} | null} */
    this.extent = null;
    /** @type {Int32Array | null} */
    this.numbers = null;
  }

  /** How many functions are above each place, that of a line not counted, how many the deepest one below it has, and how many
   * function places come before it; found once. */
  extents() {
    if (this.extent) return this.extent;
    const { count, line, parent } = this;
    const [level, functions] = [new Int32Array(count), new Int32Array(count + 1)];
    for (let at = 0; at < count; at++) {
      const above = parent[at];
      const isFunction = line[at] < 0 ? 1 : 0;
      if (above >= 0) level[at] = level[above] + isFunction;
      functions[at + 1] = functions[at] + isFunction;
    }
    const deepest = level.slice();
    for (let at = count - 1; at > 0; at--) {
      const above = parent[at];
      if (above >= 0 && deepest[above] < deepest[at]) deepest[above] = deepest[at];
    }
    return (this.extent = { level, deepest, functions });
  }

  /** A number for each place, which is whatever was left there: who uses it writes before reading. */
  scratch() {
    return (this.numbers ??= new Int32Array(this.count));
  }

  /** The places by function, which are put together once. */
  sorted() {
    if (this.byFunction) return this.byFunction;
    const { count, line, function: of } = this;
    let most = 0;
    for (let at = 0; at < count; at++) if (of[at] > most) most = of[at];
    const ends = new Int32Array(most + 2);
    for (let at = 0; at < count; at++) if (line[at] < 0) ends[of[at] + 1]++;
    for (let at = 1; at < ends.length; at++) ends[at] += ends[at - 1];
    const starts = ends.slice();
    const places = new Int32Array(ends[most + 1]);
    for (let at = 0; at < count; at++) if (line[at] < 0) places[ends[of[at]]++] = at;
    return (this.byFunction = { places, starts });
  }

  /** The places of functions, in order. @param {Iterable<number>} functions @returns {number[]} */
  placesOf(functions) {
    const { places, starts } = this.sorted();
    const lists = [...functions].filter((of) => of + 1 < starts.length).map((of) => places.subarray(starts[of], starts[of + 1]));
    const all = lists.flatMap((list) => [...list]);
    return lists.length > 1 ? all.sort((one, other) => one - other) : all;
  }

  /** Finds the last place below each, once parents are known, and each is its own last one. */
  close() {
    for (let at = this.count - 1; at > 0; at--) {
      const above = this.parent[at];
      if (above >= 0 && this.last[above] < this.last[at]) this.last[above] = this.last[at];
    }
  }

  /** The place of the function that called, lines passed over; -1 at a root. @param {number} place */
  caller(place) {
    const above = this.parent[place];
    return above >= 0 && this.line[above] >= 0 ? this.parent[above] : above;
  }
}

/** A cost that is nearly another one: by how much its ten digits are more, or how many other numbers are between the two.
 * @param {number} found @param {boolean} isByDigits @param {number} difference */
function beside(found, isByDigits, difference) {
  if (isByDigits) {
    const [digits, power] = tenDigits(found);
    return (digits + difference) / POWERS[power];
  }
  REALS.setFloat64(0, found);
  REALS.setBigInt64(0, REALS.getBigInt64(0) + BigInt(difference));
  return REALS.getFloat64(0);
}

/** The nearest number of ten digits as a whole number, and the power of ten that it was multiplied by, as `src/page/column.rs`
 * finds them. @param {number} cost @returns {[number, number]} */
function tenDigits(cost) {
  REALS.setFloat64(0, cost);
  const exponent = (REALS.getUint32(0) >>> 20) - 1023;
  let power = 9 - ((exponent * 77) >> 8);
  if (!(cost * POWERS[power] < 1e10)) power--;
  return [Math.floor(cost * POWERS[power] + 0.5), power];
}

/** Room for the bits of a number. */
const REALS = new DataView(new ArrayBuffer(8));

/** Returns places and the ends of their paths, the longest first. @param {string[]} places @returns {Set<string>} */
function endsOf(places) {
  return new Set(places.flatMap((place) => [place, ...[...place.matchAll(/[/\\]/g)].map(({ index }) => place.slice(index + 1))]));
}

/** A run. */
export class Run {
  /** @param {any} about */
  constructor(about) {
    /** @type {number} */
    this.number = about.run_id;
    /** How its blocks are named: a server is asked for the run that was seen first, whatever has its number now. @type {string} */
    this.key = about.uid ?? String(about.run_id);
    /** What no other run has. @type {string} */
    this.uid = about.uid ?? about.facts?.find((/** @type {[string, string]} */ [name]) => name === 'run_uid')?.[1] ?? '';
    this.know(about);
    /** @type {Map<string, Promise<any>>} */
    this.kept = new Map();
    /** @type {Names} */
    this.names = { id: [], kind: [], name: [], module: [], file: [], line: [], column: [], line_files: [] };
    /** @type {Map<string, number[]>} */
    this.byName = new Map();
    /** @type {Map<number, number>} */
    this.byId = new Map();
    /** Texts that tell functions of one name apart, by name and number. @type {Map<string, Map<number, string>>} */
    this.places = new Map();
    /** The path that was followed last, and where it led. @type {{key: string, of: import('./selection.js').Selected} | null} */
    this.followed = null;
    /** Threads and processes to choose from, once they are known. @type {string[] | null} */
    this.threads = null;
    /** Columns of reports in formats that have titles, once they are known. @type {Promise<any> | null} */
    this.titled = null;
  }

  /** What is known of it. @param {any} about */
  know(about) {
    this.about = about;
    /** @type {Metric[]} */
    this.metrics = about.metrics ?? [];
    this.isTree = about.fidelity === 'tree';
    this.isFlat = about.fidelity === 'flat';
  }

  /** What a function makes, once. @template T @param {string} name @param {() => Promise<T>} make @returns {Promise<T>} */
  once(name, make) {
    let kept = this.kept.get(name);
    if (!kept) {
      this.kept.set(name, (kept = make()));
      // What has failed may be had later: a server may be busy.
      kept.catch(() => this.kept.delete(name));
    }
    return kept;
  }

  /** @param {string} name */
  block(name) {
    return block(`${this.key}/${name}`);
  }

  /** Reads the names, which everything else needs. */
  open() {
    return this.once('names', async () => {
      if (this.about.fidelity === undefined) this.know(await json(`${this.key}/about`));
      const names = await json(`${this.key}/names`);
      if (names) this.names = names;
      this.byId = new Map(this.names.id.map((id, at) => [id, at]));
      this.names.name.forEach((name, at) => {
        const same = this.byName.get(name);
        if (same) same.push(at);
        else this.byName.set(name, [at]);
      });
      // A thread of a name that threads of other processes have, too, can be asked for with its process.
      for (const [name, all] of [...this.byName]) {
        const threads = all.filter((at) => this.names.kind[at] === 'thread' && this.names.module[at] !== '');
        if (threads.length > 1) for (const at of threads) if (!this.byName.has(`${this.names.module[at]}/${name}`)) this.byName.set(`${this.names.module[at]}/${name}`, [at]);
      }
    });
  }

  /** Whether a function is one, or something like it, and no thread or the like. @param {number} at */
  isCode(at) {
    return this.names.kind[at] === 'function' || this.names.kind[at] === 'pseudo';
  }

  /** Returns the text that tells a function from others of its name; `null` where none has it. @param {number} at @returns {string | null} */
  placeApart(at) {
    const { names } = this;
    const name = names.name[at];
    const group = this.byName.get(name) ?? [];
    if (group.length < 2) return null;
    let places = this.places.get(name);
    if (!places) {
      const found = placesOf(group.map((at) => ({ module: names.module[at], file: names.file[at], line: names.line[at], column: names.column[at], isCode: this.isCode(at) })));
      this.places.set(name, (places = new Map(group.map((at, which) => [at, found[which]]))));
    }
    return places.get(at) || null;
  }

  /** Returns the functions that a text means: `NAME`, or `NAME (PLACE)`. A thread is meant only where no function has the name.
   * @param {string} text @returns {number[]} */
  named(text) {
    const all = this.byName.get(text);
    if (!all) return this.placed(text);
    const code = all.filter((at) => this.isCode(at));
    return code.length > 0 ? code : all;
  }

  /** Returns whether a text means any function. @param {string} text */
  knows(text) {
    return this.byName.has(text) || this.placed(text).length > 0;
  }

  /** Returns the functions that `NAME (PLACE)` means (`src/report/names.rs`). Name and place may contain parentheses: the shortest
   * name that fits is meant. @param {string} text @returns {number[]} */
  placed(text) {
    if (!text.endsWith(')')) return [];
    for (let at = text.indexOf(' ('); at >= 0; at = text.indexOf(' (', at + 1)) {
      const place = text.slice(at + 2, -1);
      const same = this.byName.get(text.slice(0, at)) ?? [];
      const found = same.filter((of) => this.isCode(of) && (this.placeApart(of) === place || endsOf(this.placesOf(of)).has(place)));
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Returns the places that may follow the name of a function in parentheses. @param {number} of */
  placesOf(of) {
    const { module, file, line } = this.names;
    const places = [file[of], module[of], ...(line[of] > 0 ? [`${file[of]}:${line[of]}`] : [])];
    return places.filter((place) => place !== '');
  }

  /** Returns a text that means this function and, if possible, no other one: the address and `--fn` take it. @param {number} of */
  textOf(of) {
    const name = this.names.name[of];
    const texts = [this.labelOf(of), ...this.placesOf(of).map((place) => `${name} (${place})`)];
    const isExact = (/** @type {string} */ text) => {
      const found = this.named(text);
      return found.length === 1 && found[0] === of;
    };
    return texts.find(isExact) ?? texts[0];
  }

  /** Returns the name of a function, followed by a place if other functions have the same name. A thread whose name threads of other
   * processes have follows its process. @param {number} of */
  labelOf(of) {
    const name = this.names.name[of];
    const thread = `${this.names.module[of]}/${name}`;
    if (!this.isCode(of)) return this.byName.get(thread)?.includes(of) ? thread : name;
    const place = this.placeApart(of);
    return place === null ? name : `${name} (${place})`;
  }

  /** @param {string | undefined} name @returns {number} */
  metric(name) {
    const at = this.metrics.findIndex((metric) => metric.name === (name ?? this.about.default_metric));
    const known = this.metrics.map((metric) => plain(metric.name)).join(', ');
    if (at < 0) throw new Unanswered(name && known !== '' ? `Run ${this.number} has no metric ${plain(name)}; it has ${known}.` : `Run ${this.number} has no metrics.`);
    return at;
  }

  /** Figures of functions in a metric. @param {number} metric @returns {Promise<Sums>} */
  functions(metric) {
    return this.figures(`functions-${metric}`, this.names.name.length, (reader) => reader.cost());
  }

  /** Figures by number. @param {string} name @param {number} most How many numbers there are. @param {(reader: Reader) => number} seen @returns {Promise<Sums>} */
  figures(name, most, seen) {
    return this.once(name, async () => {
      const reader = new Reader(await this.block(name));
      const sums = new Sums(most);
      let at = 0;
      while (!reader.isEnd) {
        at += reader.number();
        sums.set(at, reader.count(), reader.cost(), reader.cost(), seen(reader));
      }
      return sums;
    });
  }

  /** Calls between functions in a metric. @param {number} metric @returns {Promise<Edge[]>} */
  edges(metric) {
    return this.once(`edges-${metric}`, async () => {
      const reader = new Reader(await this.block(`edges-${metric}`));
      const rows = [];
      let callee = 0;
      while (!reader.isEnd) {
        callee += reader.number();
        const caller = reader.number() - 1;
        const file = this.names.line_files[reader.number()] ?? '';
        const [line, col, bits] = [reader.signed(), reader.signed(), reader.number()];
        const [calls, exclusive, cumulative] = [reader.count(), reader.cost(), reader.cost()];
        const isOther = bits > 1;
        rows.push({ callee, caller, file, line, col, isBack: (bits & 1) === 1, calls, exclusive, cumulative, isOther, outermost: isOther ? reader.cost() : cumulative });
      }
      return rows;
    });
  }

  /** All lines. @returns {Promise<Lines>} */
  lines() {
    return this.once('lines', async () => {
      const reader = new Reader(await this.block('lines'));
      const count = reader.number();
      const lines = { count, function: new Int32Array(count), file: Array(count), line: new Float64Array(count), col: new Float64Array(count) };
      let of = 0;
      for (let at = 0; at < count; at++) {
        of += reader.number();
        lines.function[at] = of;
        lines.file[at] = this.names.line_files[reader.number()];
        lines.line[at] = reader.signed();
        lines.col[at] = reader.signed();
      }
      return lines;
    });
  }

  /** Figures of lines in a metric. @param {number} metric @returns {Promise<Sums>} */
  async lineFigures(metric) {
    return this.figures(`lines-${metric}`, (await this.lines()).count, () => NaN);
  }

  /** The tree. @returns {Promise<Tree>} */
  tree() {
    return this.once('tree', async () => {
      const [steps, places, calls] = await Promise.all(['steps', 'places', 'calls'].map(async (name) => new Reader(await this.block(name))));
      const lines = await this.lines();
      const tree = new Tree(this.about.places);
      const open = [-1];
      let depth = 0;
      for (let at = 0; at < tree.count; at++) {
        depth += 1 - steps.number();
        const place = places.number();
        const number = place >> 1;
        const isLine = (place & 1) === 1;
        tree.depth[at] = depth;
        tree.function[at] = isLine ? lines.function[number] : number;
        tree.line[at] = isLine ? number : -1;
        tree.parent[at] = open[depth];
        open[depth + 1] = at;
        const times = calls.count();
        tree.calls[at] = times;
        if (times >= 0) tree.hasCalls = true;
        tree.last[at] = at;
      }
      tree.close();
      return tree;
    });
  }

  /** What places cost themselves and with everything called. @param {number} metric @returns {Promise<{own: Float64Array, all: Float64Array}>} */
  costs(metric) {
    return this.once(`costs-${metric}`, async () => {
      const tree = await this.tree();
      const bytes = await this.block(`own-${metric}`);
      if (bytes === null) throw new Unanswered(`Paths are not in this page for ${this.metrics[metric].name}: it would have become too large.`);
      const reader = new Reader(bytes);
      const own = new Float64Array(tree.count);
      for (let at = 0; at < tree.count; at++) own[at] = reader.cost();
      // What is not what follows: how many places are closed before the next one, and how that is told.
      const others = new Reader(await this.block(`all-${metric}`));
      let [closed, other, how] = [0, 0, 0];
      const ahead = () => {
        const number = others.isEnd ? Infinity : others.number();
        other += Math.floor(number / 4);
        how = number % 4;
      };
      ahead();
      // The order of sums is that of `src/page/tree.rs`: each place is added to its callers when all below it has been.
      const { parent, line, last } = tree;
      const [all, below] = [new Float64Array(tree.count), new Float64Array(tree.count)];
      const open = new Int32Array(tree.count);
      let count = 0;
      for (let at = 0; at <= tree.count; at++) {
        while (count > 0 && (at === tree.count || last[open[count - 1]] < at)) {
          const place = open[--count];
          let cost = own[place] + below[place];
          if (closed++ === other) {
            cost = how === 0 ? others.cost() : beside(cost, how === 1, others.signed());
            ahead();
          }
          all[place] = cost;
          const above = parent[place];
          if (line[place] >= 0 || above < 0) continue;
          below[above] += cost;
          if (line[above] >= 0) below[parent[above]] += cost;
        }
        if (at < tree.count) open[count++] = at;
      }
      return { own, all };
    });
  }

  /** What samples with labels leave of the tree, and what that costs: places that have, or lead to, such a sample.
   * @param {number} metric @param {string[]} labels @returns {Promise<{tree: Tree, costs: {own: Float64Array, all: Float64Array}}>} */
  labelled(metric, labels) {
    return this.once(JSON.stringify([metric, labels]), async () => {
      const [whole, costs, sets] = [await this.tree(), await this.costs(metric), await this.labelSets()];
      let wanted = sets;
      for (const label of labels) {
        const [key, value] = /=/.test(label) ? [label.slice(0, label.indexOf('=')), label.slice(label.indexOf('=') + 1)] : [label, null];
        const isIt = (/** @type {string[]} */ [of, text, unit]) => of === key && (value === null || [text, text + unit, `${text} ${unit}`].includes(value));
        wanted = wanted.filter(([, said]) => said.some(isIt));
        if (wanted.length === 0) throw new Unanswered(`No sample of run ${this.number} has the label ${plain(labels.join(' and '))}.`);
      }
      const numbers = new Set(wanted.map(([set]) => set));
      const reader = new Reader(await this.block(`labels-${metric}`));
      const own = new Float64Array(whole.count);
      /** 1 where a sample is wanted, and where one is below. */
      const kept = new Uint8Array(whole.count);
      for (let at = 0; !reader.isEnd; ) {
        at += reader.number();
        const set = reader.number();
        const cost = reader.cost();
        if (!numbers.has(set)) continue;
        own[at] += cost;
        kept[at] = 1;
      }
      // Where all of a place is wanted, with all below it, the figure of the file stays.
      const isCut = new Uint8Array(whole.count);
      const all = new Float64Array(whole.count);
      for (let at = whole.count - 1; at >= 0; at--) {
        if (!kept[at] || own[at] !== costs.own[at]) isCut[at] = 1;
        const sum = all[at] + own[at];
        const above = whole.parent[at];
        if (above >= 0) {
          all[above] += whole.line[at] < 0 ? sum : all[at];
          isCut[above] |= isCut[at];
          kept[above] |= kept[at];
        }
        all[at] = isCut[at] && !Number.isNaN(costs.all[at]) ? sum : costs.all[at];
      }
      const places = whole.number.filter((at) => kept[at]);
      const tree = new Tree(places.length);
      const to = new Int32Array(whole.count).fill(-1);
      places.forEach((place, at) => {
        to[place] = at;
        for (const column of /** @type {('depth' | 'function' | 'line')[]} */ (['depth', 'function', 'line'])) tree[column][at] = whole[column][place];
        tree.parent[at] = whole.parent[place] < 0 ? -1 : to[whole.parent[place]];
        tree.last[at] = at;
      });
      tree.close();
      tree.calls.fill(NaN);
      tree.number = places;
      return { tree, costs: { own: Float64Array.from(places, (at) => own[at]), all: Float64Array.from(places, (at) => all[at]) } };
    });
  }

  /** What is said of samples: numbers of sets, and their labels: key, value and unit. @returns {Promise<[number, string[][]][]>} */
  labelSets() {
    return this.once('labels', async () => (await json(`${this.key}/labels-sets`)) ?? []);
  }

  /** Stored source. @returns {Promise<Sources | null>} */
  sources() {
    return this.once('sources', () => json(`${this.key}/sources`));
  }

  /** Statements in parts. @returns {Promise<any>} */
  statements() {
    return this.once('statements', () => json(`${this.key}/statements`));
  }
}
