import { parseArgs } from "node:util";
import type { MemberRole } from "@toolgate/service-host/principal";
import type { OperatorDependencies } from "./dependencies.ts";
import { OperatorError } from "./operator-error.ts";
import { removeRole, setRole } from "./roles.ts";
import { createUser, setPassword } from "./users.ts";
import { createWorkspace, listWorkspaceLines, lockWorkspace } from "./workspaces.ts";

export const USAGE = `Usage: node services/key-auth/src/admin.ts <command>, with DATABASE_URL and REDIS_URL

  workspace list
  workspace create <code>
  workspace lock <code>             no call of the workspace runs any more
  workspace unlock <code>
  user create <email>               password on standard input
  user password <email>             password on standard input; ends the user's sessions
  role set <email> <workspace> <member|manager|admin>
  role remove <email> <workspace>`;

type Command = (deps: OperatorDependencies, args: string[]) => Promise<string>;

const COMMANDS: Record<string, { takes: number; run: Command }> = {
  "workspace list": { takes: 0, run: listWorkspaceLines },
  "workspace create": { takes: 1, run: (deps, [code = ""]) => createWorkspace(deps, code) },
  "workspace lock": { takes: 1, run: (deps, [code = ""]) => lockWorkspace(deps, code, true) },
  "workspace unlock": { takes: 1, run: (deps, [code = ""]) => lockWorkspace(deps, code, false) },
  "user create": { takes: 1, run: (deps, [email = ""]) => createUser(deps, email) },
  "user password": { takes: 1, run: (deps, [email = ""]) => setPassword(deps, email) },
  "role set": {
    takes: 3,
    run: (deps, [email = "", workspace = "", role = ""]) => setRole(deps, { email, workspace, role: roleOf(role) }),
  },
  "role remove": { takes: 2, run: (deps, [email = "", workspace = ""]) => removeRole(deps, { email, workspace }) },
};

/** The command of an operator, ready to run; it returns what to print. Throws an OperatorError for what is none. */
export function operatorCommand(argv: string[]): (deps: OperatorDependencies) => Promise<string> {
  const [subject = "", verb = "", ...args] = positionals(argv);
  const command = COMMANDS[`${subject} ${verb}`];
  if (!command || args.length !== command.takes) throw new OperatorError(USAGE);
  return (deps) => command.run(deps, args);
}

function positionals(argv: string[]): string[] {
  try {
    return parseArgs({ args: argv, allowPositionals: true }).positionals;
  } catch {
    throw new OperatorError(USAGE);
  }
}

function roleOf(text: string): MemberRole {
  if (text === "member" || text === "manager" || text === "admin") return text;
  throw new OperatorError("a role is member, manager or admin");
}
