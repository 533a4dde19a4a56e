// Places that tell functions of one name apart, as `src/text/placed.rs` has them: a test holds the two equal.

/** @typedef {{module: string, file: string, line: number, column: number, isCode: boolean}} Namesake The definition of a function. The
 * line is 0 if unknown; without a line, the column is a number of the importer that tells equal definitions apart. */

/** The ends of a path that begin with a part of it, the shortest first. @param {string} path @returns {string[]} */
function pathEnds(path) {
  const ends = [];
  for (let at = path.length - 1; at >= 0; at--) {
    if ((path[at] === '/' || path[at] === '\\') && at < path.length - 1) ends.push(path.slice(at + 1));
  }
  return [...ends, path];
}

/** How often each text occurs. @param {string[]} texts @returns {Map<string, number>} */
function countsOf(texts) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** The shortest end of each path that no other one of them has. @param {string[]} all @returns {Map<string, string>} */
function shortened(all) {
  const paths = [...new Set(all)];
  const ends = countsOf(paths.flatMap(pathEnds));
  return new Map(paths.map((path) => [path, pathEnds(path).find((end) => ends.get(end) === 1) ?? path]));
}

/** The text after `FILE:LINE` or after a place that tells functions of one name, module, file and line apart.
 * @param {Namesake[]} group @returns {{column: string, number: string}[]} */
function marksOf(group) {
  /** @type {Map<string, number[]>} */
  const equals = new Map();
  group.forEach(({ module, file, line, isCode }, at) => {
    const key = JSON.stringify([module, file, line]);
    if (isCode) equals.set(key, [...(equals.get(key) ?? []), at]);
  });
  const marks = group.map(() => ({ column: '', number: '' }));
  for (const equal of equals.values()) {
    if (equal.length < 2) continue;
    equal.sort((one, other) => group[one].column - group[other].column);
    const isColumn = group[equal[0]].line > 0 && new Set(equal.map((at) => group[at].column)).size === equal.length;
    equal.forEach((at, before) => {
      marks[at] = isColumn ? { column: `:${group[at].column}`, number: '' } : { column: '', number: `#${before + 1}` };
    });
  }
  return marks;
}

/** The places of functions of one name. @param {Namesake[]} group @returns {string[]} */
export function placesOf(group) {
  const [allFiles, allModules] = [group.map(({ file }) => file), group.map(({ module }) => module)];
  const [files, modules] = [shortened(allFiles), shortened(allModules)];
  const [inFile, inModule] = [countsOf(allFiles), countsOf(allModules)];
  const marks = marksOf(group);
  const byFile = group.map(({ file, line }, at) => {
    const short = files.get(file) ?? file;
    return (file === '' || (inFile.get(file) ?? 0) > 1) && line > 0 ? `${short}:${line}${marks[at].column}` : short;
  });
  const byFileCounts = countsOf(byFile);
  const isPlaceless = (/** @type {Namesake} */ { module, file, line, isCode }) => isCode && module === '' && file === '' && line === 0;
  const hasPlaceless = group.filter(({ isCode }) => isCode).length > 1 && group.filter(isPlaceless).length === 1;
  const placeOf = (/** @type {Namesake} */ function_, /** @type {string} */ place) => {
    const module = modules.get(function_.module) ?? '';
    if (hasPlaceless && isPlaceless(function_)) return 'no file';
    if (module === '' || (place !== '' && byFileCounts.get(place) === 1)) return place;
    if ((place === '' || inModule.get(function_.module) === 1) && !byFileCounts.has(module)) return module;
    return `${place}, ${module}`;
  };
  return group.map((function_, at) => placeOf(function_, byFile[at]) + marks[at].number);
}
