// SQLite in a thread of its own, after sql.js in the same script: it opens the database of the page, fills in the trees when a
// statement asks for them, and answers one statement after the other.
/* global initSqlJs */

/** Rows that are given at most. */
const MOST = 1000;

/** Tables that the page has as arrays instead. */
const TREES = ['nodes', 'node_costs', 'function_nodes'];

/** @type {any} */
let database = null;

/** Tables and views that read trees, in small letters. @type {Set<string>} */
const readers = new Set(TREES);

let isFilled = false;

/** The words of a statement. @param {string} sql */
const words = (sql) => sql.toLowerCase().split(/[^a-z0-9_]+/);

/** @param {any} given Bytes of the program and of the database. */
async function open({ program, data }) {
  const made = await /** @type {any} */ (self).initSqlJs({ wasmBinary: program });
  database = new made.Database(data);
  database.run('PRAGMA query_only = ON');
  const views = database.exec("SELECT name, sql FROM sqlite_schema WHERE type = 'view'")[0]?.values ?? [];
  for (let before = 0; before < readers.size; ) {
    before = readers.size;
    for (const [name, sql] of views) if (words(sql).some((word) => readers.has(word))) readers.add(name);
  }
}

/** Writes the trees of runs into their tables. @param {any[]} trees */
function fill(trees) {
  database.run('PRAGMA query_only = OFF');
  database.run('BEGIN');
  for (const tree of trees) fillOne(tree);
  database.run('COMMIT');
  database.run('PRAGMA query_only = ON');
  isFilled = true;
}

/** @param {any} tree */
function fillOne({ run, first, count, isCut, metrics, functions, depth, of, line, parent, last, calls, costs, numbers, cols, files }) {
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

/** Whether a statement reads trees. @param {string} sql */
const needsTrees = (sql) => words(sql).some((word) => readers.has(word));

/** @param {string} sql */
function ask(sql) {
  /** @type {{columns: string[], rows: any[][], isMore: boolean}} */
  let answer = { columns: [], rows: [], isMore: false };
  for (const statement of database.iterateStatements(sql)) {
    const columns = statement.getColumnNames();
    const rows = [];
    let isMore = false;
    while (statement.step()) {
      if (rows.length === MOST) {
        isMore = true;
        break;
      }
      rows.push(statement.get());
    }
    answer = { columns, rows, isMore };
    statement.reset();
  }
  return answer;
}

addEventListener('message', async ({ data: { number, does, given } }) => {
  try {
    let answer = null;
    if (does === 'open') await open(given);
    else if (does === 'needs') answer = !isFilled && needsTrees(given);
    else if (does === 'fill') fill(given);
    else answer = ask(given);
    postMessage({ number, answer });
  } catch (error) {
    postMessage({ number, fault: /** @type {Error} */ (error).message });
  }
});
