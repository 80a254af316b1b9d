import { programNames, programOf } from "./programs.ts";

const [name = ""] = process.argv.slice(2);
const program = programOf(name);
if (program) {
  const { path, role } = program;
  if (role !== undefined) process.env.ROLES = role;
  // The program sees only the arguments after its name.
  process.argv.splice(2, 1);
  await import(path);
} else {
  process.stderr.write(`Name what to start, instead of "${name}": ${programNames().join(", ")}\n`);
  process.exitCode = 1;
}
