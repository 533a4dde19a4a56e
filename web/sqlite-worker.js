// SQLite in a thread of its own, after sql.js in the same script: it makes the database of the page, fills in figures and trees when
// a statement asks for them, and answers one statement after the other.
/* global initSqlJs */

/** Rows that are given at most. */
const MOST = 1000;

/** Tables that the page has otherwise, by what fills them in; views that read them are added, all in small letters. @type {Record<string, Set<string>>} */
const readers = {
  figures: new Set(['functions', 'identities', 'function_info', 'line_info', 'edges', 'node_labels']),
  trees: new Set(['nodes', 'node_costs', 'function_nodes']),
};

/** @type {any} */
let database = null;

/** What has been filled in. @type {Set<string>} */
const filled = new Set();

/** The words of a statement. @param {string} sql */
const words = (sql) => sql.toLowerCase().split(/[^a-z0-9_]+/);

/** @param {any} given Bytes of the program, and statements that make the database. */
async function open({ program, script }) {
  const made = await /** @type {any} */ (self).initSqlJs({ wasmBinary: program });
  database = new made.Database();
  // A script as a whole would have to fit onto the stack of the program.
  database.exec(`BEGIN;${new TextDecoder().decode(script)}COMMIT;PRAGMA query_only = ON`);
  const views = database.exec("SELECT name, sql FROM sqlite_schema WHERE type = 'view'")[0].values;
  for (const all of Object.values(readers)) {
    for (let before = 0; before < all.size; ) {
      before = all.size;
      for (const [name, sql] of views) if (words(sql).some((word) => all.has(word))) all.add(name);
    }
  }
}

/** Fills in what statements will read. @param {{what: string, runs: any[]}} given */
function fill({ what, runs }) {
  database.run('PRAGMA query_only = OFF');
  database.run('BEGIN');
  for (const run of runs) (what === 'trees' ? fillTree : fillTables)(run);
  database.run('COMMIT');
  database.run('PRAGMA query_only = ON');
  filled.add(what);
}

/** Writes rows into their tables: runs share functions. @param {[string, any[][]][]} tables */
function fillTables(tables) {
  for (const [table, rows] of tables) {
    if (rows.length === 0) continue;
    const insert = database.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${rows[0].map(() => '?')})`);
    for (const row of rows) insert.run(row);
    insert.free();
  }
}

/** @param {any} tree */
function fillTree({ run, first, count, isCut, metrics, functions, depth, of, line, parent, last, calls, costs, numbers, cols, files }) {
  const node = database.prepare('INSERT INTO nodes (node_id, up, size, depth, function_id, calls, exclusive, line, cumulative_other, outer_up, col, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const other = database.prepare('INSERT INTO node_costs (metric_id, node_id, exclusive, cumulative_other) VALUES (?, ?, ?, ?)');
  const [open, openLines] = [new Int32Array(functions.length).fill(-1), new Int32Array(numbers.length).fill(-1)];
  const outer = new Int32Array(count).fill(-1);
  const beside = (/** @type {number} */ own, /** @type {number} */ all) => (Number.isNaN(all) ? Infinity : all === own ? null : all);
  for (let at = 0; at < count; at++) {
    const isLine = line[at] >= 0;
    const [key, opened] = isLine ? [line[at], openLines] : [of[at], open];
    let enclosing = opened[key];
    while (enclosing >= 0 && last[enclosing] < at) enclosing = outer[enclosing];
    outer[at] = enclosing;
    opened[key] = at;
    const [own, all] = [costs[0].own[at], costs[0].all[at]];
    const col = isLine ? cols[line[at]] : 0;
    const file = isLine ? files[line[at]] : '';
    node.run([
      first + at,
      parent[at] < 0 ? null : at - parent[at],
      last[at] - at,
      depth[at],
      functions[of[at]],
      Number.isNaN(calls[at]) ? null : calls[at],
      own,
      isLine ? numbers[line[at]] : null,
      beside(own, all),
      enclosing < 0 ? null : at - enclosing,
      col === 0 ? null : col,
      file === '' ? null : file,
    ]);
  }
  for (let metric = 1; metric < costs.length; metric++) {
    if (costs[metric] === null) continue;
    const { own, all } = costs[metric];
    for (let at = 0; at < count; at++) if (own[at] !== 0 || all[at] !== 0) other.run([metrics[metric], first + at, own[at], beside(own[at], all[at])]);
  }
  // In the order of the key, each row comes after all others.
  const order = [];
  for (let at = 0; at < count; at++) if (line[at] < 0) order.push(at);
  order.sort((one, next) => functions[of[one]] - functions[of[next]] || one - next);
  const place = database.prepare('INSERT INTO function_nodes (run_id, function_id, node_id) VALUES (?, ?, ?)');
  for (const at of order) place.run([run, functions[of[at]], first + at]);
  for (const statement of [node, other, place]) statement.free();
  if (isCut) database.run('UPDATE runs SET first_node = ?, last_node = ? WHERE run_id = ?', [first, first + count - 1, run]);
}

/** What a statement reads that has not been filled in. @param {string} sql */
const needs = (sql) => Object.keys(readers).filter((what) => !filled.has(what) && words(sql).some((word) => readers[what].has(word)));

/** The first word of a statement, comments before it passed over. @param {string} sql */
const firstWord = (sql) => /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))*([a-z]*)/i.exec(sql)?.[1].toLowerCase() ?? '';

/** What begins a statement that only reads. */
const READING = ['select', 'with', 'values', 'explain'];

/** Whole numbers of more than 15 digits stay what they are: as numbers of browsers they could not be told from others. @param {any} value */
const exact = (value) => (typeof value === 'bigint' && value > -(10n ** 15n) && value < 10n ** 15n ? Number(value) : value);

/** @param {string} sql */
function ask(sql) {
  /** @type {{columns: string[], rows: any[][], more: string | null} | null} */
  let answer = null;
  const statements = database.iterateStatements(sql);
  for (const statement of statements) {
    if (answer) throw new Error('one statement at a time');
    const begins = firstWord(statement.getSQL());
    if (!READING.includes(begins)) throw new Error(`expected SELECT, WITH, VALUES or EXPLAIN, found ${begins.toUpperCase()}: the page only reads`);
    const columns = statement.getColumnNames();
    const rows = [];
    let more = null;
    while (statement.step()) {
      if (rows.length === MOST) {
        more = `Only the first ${MOST} rows are shown`;
        break;
      }
      rows.push(statement.get(null, { useBigInt: true }).map(exact));
    }
    answer = { columns, rows, more };
    statement.reset();
  }
  return answer ?? { columns: [], rows: [], more: null };
}

addEventListener('message', async ({ data: { number, does, given } }) => {
  try {
    let answer = null;
    if (does === 'open') await open(given);
    else if (does === 'needs') answer = needs(given);
    else if (does === 'fill') fill(given);
    else answer = ask(given);
    postMessage({ number, answer });
  } catch (error) {
    postMessage({ number, fault: /** @type {Error} */ (error).message });
  }
});
