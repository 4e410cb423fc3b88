// No function of the browser house is longer than a hundred lines; TypeScript's own parser says where each begins and ends.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  isArrowFunction, isFunctionDeclaration, isFunctionExpression, isMethodDeclaration,
} from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";

const LINES_MAX = 100;
const CONFIG = fileURLToPath(new URL("../../jsconfig.json", import.meta.url));
const HOUSE = fileURLToPath(new URL("../../static/js/", import.meta.url));
const KINDS = [isArrowFunction, isFunctionDeclaration, isFunctionExpression, isMethodDeclaration];

const compiler = new API({ cwd: fileURLToPath(new URL("../../", import.meta.url)) });
after(() => compiler.close());
const program = compiler.updateSnapshot({ openProject: CONFIG }).getProject(CONFIG).program;
const files = program.getSourceFileNames().filter((name) => name.startsWith(HOUSE) && name.endsWith(".js"));

/** Every function of a file with the number of its lines, without the comment above it. */
function functionsOf(file) {
  const found = [];
  const visit = (node) => {
    if (KINDS.some((is) => is(node))) {
      const begin = node.getStart(file);
      const lines = file.text.slice(begin, node.end).split("\n").length;
      found.push({ name: node.name?.text ?? "", line: file.text.slice(0, begin).split("\n").length, lines });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

test("the parser reads the whole house", () => {
  assert.ok(files.length > 20);
  const lengths = files.flatMap((name) => functionsOf(program.getSourceFile(name)));
  assert.ok(lengths.length > 500 && lengths.some(({ lines }) => lines > 20));
});

test(`no function is longer than ${LINES_MAX} lines`, () => {
  const long = files.flatMap((name) => functionsOf(program.getSourceFile(name))
    .filter(({ lines }) => lines > LINES_MAX)
    .map(({ name: called, line, lines }) => `${name.slice(HOUSE.length)}:${line} ${called} (${lines} lines)`));
  assert.deepEqual(long, []);
});
