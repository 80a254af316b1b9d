import { openIsolatedVm } from "./isolated-vm.ts";
import { openQuickJs } from "./quickjs.ts";
import type { Subject, SubjectName } from "./subject.ts";
import { openProcesses } from "./tenant-process.ts";

/** Undefined when what it needs is not installed. */
export async function openSubject(name: SubjectName): Promise<Subject | undefined> {
  if (name === "isolated-vm") return openIsolatedVm();
  return name === "process" ? openProcesses() : openQuickJs();
}
