// Places that tell functions of one name apart, as `src/text/placed.rs` has them: a test holds the two equal.

/** @typedef {{module: string, file: string, line: number}} Namesake The definition of a function; the line is 0 if unknown. */

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

/** The places of functions of one name. @param {Namesake[]} group @returns {string[]} */
export function placesOf(group) {
  const [allFiles, allModules] = [group.map(({ file }) => file), group.map(({ module }) => module)];
  const [files, modules] = [shortened(allFiles), shortened(allModules)];
  const [inFile, inModule] = [countsOf(allFiles), countsOf(allModules)];
  const byFile = group.map(({ file, line }) => {
    const short = files.get(file) ?? file;
    return (file === '' || (inFile.get(file) ?? 0) > 1) && line > 0 ? `${short}:${line}` : short;
  });
  const byFileCounts = countsOf(byFile);
  return group.map((function_, at) => {
    const [place, module] = [byFile[at], modules.get(function_.module) ?? ''];
    if (module === '' || (place !== '' && byFileCounts.get(place) === 1)) return place;
    if (place === '' || inModule.get(function_.module) === 1) return module;
    return `${place}, ${module}`;
  });
}
