import { Counts } from "../../domain/counts.ts";
import type { SandboxRun } from "./run.ts";

/** The runs that a child has, and the tools for which it therefore has an isolate. */
export class AssignedRuns {
  readonly runsOfTool = new Counts();
  readonly runsOfWorkspace = new Counts();
  readonly toolsOfWorkspace = new Counts();
  /** Tools that the child refused for lack of an isolate. Cleared when one of its runs ends. */
  readonly refusedTools = new Set<string>();
  readonly #runs = new Map<number, SandboxRun>();

  get size(): number {
    return this.#runs.size;
  }

  get(ticket: number): SandboxRun | undefined {
    return this.#runs.get(ticket);
  }

  add(ticket: number, run: SandboxRun): void {
    const { codeKey, workspaceId } = run.request;
    this.#runs.set(ticket, run);
    this.runsOfWorkspace.add(workspaceId, 1);
    if (this.runsOfTool.add(codeKey, 1) === 1) this.toolsOfWorkspace.add(workspaceId, 1);
  }

  remove(ticket: number): SandboxRun | undefined {
    const run = this.#runs.get(ticket);
    if (run === undefined) return undefined;
    this.#runs.delete(ticket);
    this.refusedTools.clear();
    const { codeKey, workspaceId } = run.request;
    this.runsOfWorkspace.add(workspaceId, -1);
    if (this.runsOfTool.add(codeKey, -1) === 0) this.toolsOfWorkspace.add(workspaceId, -1);
    return run;
  }

  ofWorkspace(workspaceId: string): SandboxRun[] {
    return [...this.#runs.values()].filter((run) => run.request.workspaceId === workspaceId);
  }

  removeAll(): SandboxRun[] {
    return [...this.#runs.keys()].flatMap((ticket) => this.remove(ticket) ?? []);
  }

  /** The child had no isolate for this one. */
  refuse(run: SandboxRun): void {
    this.remove(run.ticket);
    this.refusedTools.add(run.request.codeKey);
  }
}
