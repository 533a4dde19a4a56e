// SQLite of the page: it is started when SQL is first asked, and gets figures and trees when a statement first reads them.
import { block, json, Reader } from './bytes.js';
import { orNull } from './ask.js';
import { Unanswered } from './texts.js';

/** Milliseconds that a statement may take. */
const PATIENCE = 10000;

/** @typedef {{columns: string[], rows: any[][], more: string | null}} SqlAnswer Whole numbers of more than 15 digits are `BigInt`; `more` says what of the rows is missing. */

/** A thread that answers statements. */
export class Sqlite {
  /** @param {import('./profile.js').Run[]} runs */
  constructor(runs) {
    this.runs = runs;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.last = 0;
    /** @type {Promise<void> | null} */
    this.started = null;
    /** @type {any} */
    this.types = null;
  }

  async start() {
    const [program, script, loader, worker] = await Promise.all(['program', 'script', 'loader', 'worker'].map((name) => block(`sqlite/${name}`)));
    const url = URL.createObjectURL(new Blob(/** @type {any} */ ([loader, '\n', worker]), { type: 'text/javascript' }));
    // The one policy that the page's own policy lets be made, and once.
    this.types ??= /** @type {any} */ (globalThis).trustedTypes?.createPolicy('profdb-worker', { createScriptURL: (/** @type {string} */ of) => of });
    this.worker = new Worker(this.types ? this.types.createScriptURL(url) : url);
    URL.revokeObjectURL(url);
    this.worker.addEventListener('message', ({ data: { number, answer, fault } }) => {
      const waiting = this.waiting.get(number);
      this.waiting.delete(number);
      if (fault === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Unanswered(fault));
    });
    this.worker.addEventListener('error', () => this.stop('SQLite cannot start in this browser.'));
    await this.send('open', { program, script });
  }

  /** @param {string} does @param {any} given @returns {Promise<any>} */
  send(does, given) {
    const number = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      this.worker?.postMessage({ number, does, given });
    });
  }

  /** Ends what is under way; the next statement starts anew. @param {string} why */
  stop(why) {
    this.worker?.terminate();
    [this.worker, this.started] = [null, null];
    for (const { reject } of this.waiting.values()) reject(new Unanswered(why));
    this.waiting.clear();
  }

  /** The answer to a statement. @param {string} sql @param {(text: string) => void} say @returns {Promise<SqlAnswer>} */
  async ask(sql, say) {
    say('Starting SQLite…');
    this.started ??= this.start();
    await this.started;
    for (const what of await this.send('needs', sql)) {
      say(`Loading ${what}…`);
      const runs = [];
      for (const run of this.runs) {
        if (what === 'figures') runs.push(await tablesOf(run));
        else if (run.isTree) runs.push(await treeOf(run));
      }
      await this.send('fill', { what, runs });
    }
    say('…');
    const timer = setTimeout(() => this.stop(`The statement was stopped after ${PATIENCE / 1000} seconds.`), PATIENCE);
    try {
      return await this.send('ask', sql);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Names and rows of the tables that a run has figures in. @param {import('./profile.js').Run} run @returns {Promise<[string, any[][]][]>} */
async function tablesOf(run) {
  await run.open();
  const { names, metrics, about } = run;
  const lines = await run.lines();
  const more = async (/** @type {string} */ name) => new Reader(await run.block(`more-${name}`));
  const sign = (/** @type {number} */ bits) => (bits ? 1 : 0);
  /** A cost that is stored where it is another one. @param {boolean} is @param {number} cost */
  const beside = (is, cost) => (is ? (Number.isNaN(cost) ? Infinity : cost) : null);
  /** @type {Record<string, any[][]>} */
  const tables = { identities: [], functions: [], function_info: [], line_info: [], edges: [], node_labels: [] };
  const [ofNames, texts] = [await more('names'), (await json(`${run.key}/more-texts`)) ?? []];
  let [identity, text] = [0, 0];
  names.id.forEach((id, at) => {
    const bits = ofNames.number();
    const raw = bits & 1 ? texts[text++] : null;
    if (bits & 2) {
      const own = [names.name[at], names.module[at], names.file[at]].map((name, which) => (bits & (16 << which) ? texts[text++] : name));
      identity += ofNames.signed();
      tables.identities.push([identity, bits & 4 ? 'container' : 'code', ...own, sign(bits & 8), ofNames.raw(ofNames.number())]);
    }
    tables.functions.push([id, names.kind[at], names.name[at], names.module[at], names.file[at], names.line[at], names.column[at], raw, bits & 2 ? identity : null]);
  });
  for (const [at, { metric_id: metric }] of metrics.entries()) {
    const ofFunctions = await more(`functions-${at}`);
    const functions = await run.functions(at);
    for (const of of functions.keys) {
      const [bits, calls] = [ofFunctions.number(), functions.calls[of]];
      tables.function_info.push([metric, names.id[of], calls, bits & 2 ? ofFunctions.count() : calls, functions.exclusive[of], functions.cumulative[of], functions.seen[of], bits & 1]);
    }
    const ofLines = await more(`lines-${at}`);
    const figures = await run.lineFigures(at);
    for (const line of figures.keys) {
      tables.line_info.push([metric, names.id[lines.function[line]], lines.file[line], lines.line[line], lines.col[line], figures.calls[line], figures.exclusive[line], figures.cumulative[line], ofLines.number()]);
    }
    const ofEdges = await more(`edges-${at}`);
    for (const { callee, caller, file, line, col, isBack, calls, exclusive, cumulative, isOther, outermost } of await run.edges(at)) {
      const isSeen = ofEdges.number() === 1;
      const seen = isSeen ? ofEdges.cost() : 0;
      tables.edges.push([metric, names.id[callee], sign(Number(isBack)), names.id[caller] ?? 0, file, line, col, calls, exclusive, cumulative, beside(isOther, outermost), beside(isSeen, seen)]);
    }
    const labels = await run.block(`labels-${at}`);
    const reader = new Reader(labels);
    for (let place = about.first_node; labels && !reader.isEnd; ) {
      place += reader.number();
      tables.node_labels.push([metric, place, reader.number(), reader.cost()]);
    }
  }
  for (const rows of Object.values(tables)) for (const row of rows) row.forEach((value, at) => (row[at] = orNull(value)));
  return Object.entries(tables);
}

/** The tree of a run as the thread wants it. @param {import('./profile.js').Run} run */
async function treeOf(run) {
  await run.open();
  const [tree, lines] = [await run.tree(), await run.lines()];
  const costs = [];
  for (let metric = 0; metric < run.metrics.length; metric++) costs.push(await run.costs(metric).catch(() => null));
  // A place that stands for those that were left out is of a function of its own.
  const functions = [...run.names.id, 0];
  return {
    run: run.number,
    first: run.about.first_node ?? 1,
    count: tree.count,
    isCut: Boolean(run.about.left.places || run.about.left.lines),
    metrics: run.metrics.map((metric) => metric.metric_id),
    functions,
    depth: tree.depth,
    of: tree.function,
    line: tree.line,
    parent: tree.parent,
    last: tree.last,
    calls: tree.calls,
    costs,
    numbers: lines.line,
    cols: lines.col,
    files: lines.file,
  };
}
