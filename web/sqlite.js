// SQLite of the page: it is started when SQL is first asked, and gets the trees when a statement first reads them.
import { block } from './bytes.js';
import { Unanswered } from './texts.js';

/** Milliseconds that a statement may take. */
const PATIENCE = 10000;

/** @typedef {{columns: string[], rows: any[][], isMore: boolean}} SqlAnswer */

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
    const [program, data, loader, worker] = await Promise.all(['program', 'data', 'loader', 'worker'].map((name) => block(`sqlite/${name}`)));
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
    this.worker.addEventListener('error', () => this.stop('SQLite does not start in this browser.'));
    await this.send('open', { program, data });
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
    say('SQLite starts…');
    this.started ??= this.start();
    await this.started;
    if (await this.send('needs', sql)) {
      say('The trees are filled in…');
      const trees = [];
      for (const run of this.runs) if (run.isTree) trees.push(await treeOf(run));
      await this.send('fill', trees);
    }
    say('…');
    const timer = setTimeout(() => this.stop(`The statement has taken ${PATIENCE / 1000} seconds, and was ended.`), PATIENCE);
    try {
      return await this.send('ask', sql);
    } finally {
      clearTimeout(timer);
    }
  }
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
    metrics: run.metrics.map((metric) => /** @type {any} */ (metric).metric_id),
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
