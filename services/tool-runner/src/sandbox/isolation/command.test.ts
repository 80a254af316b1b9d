import { describe, expect, it } from "vitest";
import { isolated, type Machine } from "./command.ts";
import { NO_ISOLATION } from "./detect.ts";
import { LAYERS, type Layer } from "./layers.ts";
import { reportIsolation } from "./report.ts";

const MACHINE: Machine = {
  isRoot: true,
  tools: {
    chroot: "chroot",
    env: "env",
    perl: "perl",
    prlimit: "prlimit",
    setpriv: "setpriv",
    sh: "sh",
    unshare: "unshare",
  },
  filter: { prctl: 157, program: Buffer.from([6, 0, 0, 0, 0, 0, 255, 127]) },
  countsByNamespace: true,
  mountPoint: "/mnt",
  readable: ["/usr"],
};
const USER = 61_200;
const commandOf = (layers: readonly Layer[], machine: Partial<Machine> = {}) =>
  isolated(["node", "x"], new Set(layers), { ...MACHINE, ...machine }, USER);

describe("the command of a sandbox child", () => {
  it("[TOOL-2] without layers it is the command itself", () => {
    expect(commandOf([])).toEqual(["node", "x"]);
  });

  it("[TOOL-2] root gives a child a user of its own and needs no user namespace", () => {
    const command = commandOf(LAYERS);
    expect(command).toContain(`--reuid=${USER}`);
    expect(command).not.toContain("--user");
    expect(command.slice(-2)).toEqual(["node", "x"]);
    expect(commandOf(LAYERS.filter((layer) => layer !== "seccomp")).slice(-4)).toEqual(["env", "-i", "node", "x"]);
  });

  it("[TOOL-2] the filter of system calls is loaded last", () => {
    const command = commandOf(LAYERS);
    const at = command.indexOf("perl");
    expect(at).toBeGreaterThan(command.indexOf("prlimit"));
    expect(command.slice(at + 2)).toEqual(["157", "060000000000ff7f", "node", "x"]);
  });

  it("[TOOL-2] an ordinary user needs a user namespace for every other namespace", () => {
    for (const layer of ["network", "processes", "files", "user"] as const) {
      expect(commandOf([layer], { isRoot: false })).toContain("--user");
    }
    expect(commandOf(LAYERS, { isRoot: false }).join(" ")).not.toContain("--reuid");
  });

  it("[TOOL-2] an ordinary user without namespaces drops only what it may drop", () => {
    const command = commandOf(["no-new-privileges", "capabilities", "limits"], { isRoot: false });
    expect(command.slice(0, 3)).toEqual(["setpriv", "--inh-caps=-all", "--no-new-privs"]);
    expect(command.join(" ")).not.toContain("--nproc");
  });

  it("[TOOL-2] processes are counted only where those of other programs do not count", () => {
    expect(commandOf(LAYERS).join(" ")).toContain("--nproc");
    expect(commandOf(LAYERS, { isRoot: false }).join(" ")).toContain("--nproc");
    expect(commandOf(LAYERS, { isRoot: false, countsByNamespace: false }).join(" ")).not.toContain("--nproc");
  });
});

describe("the report of the layers", () => {
  it("[TOOL-2] is one line, and too few layers are refused where the minimum is required", () => {
    const lines: unknown[] = [];
    const log = { info: (fields: Record<string, unknown>, message: string) => void lines.push({ ...fields, message }) };
    expect(() => reportIsolation(NO_ISOLATION, true, log)).toThrow(/missing: no-new-privileges, .*DANGEROUSLY/u);
    reportIsolation(NO_ISOLATION, false, log);
    reportIsolation({ ...NO_ISOLATION, layers: new Set(LAYERS) }, true, log);
    expect(lines).toEqual([
      { active: "", missing: LAYERS.join(", "), message: "sandbox isolation" },
      { active: "", missing: LAYERS.join(", "), message: "sandbox isolation" },
      { active: LAYERS.join(", "), missing: "", message: "sandbox isolation" },
    ]);
  });
});
