import { parseArgs } from "node:util";
import type { MemberRole } from "@toolgate/service-host/principal";
import { type OperatorContext, OperatorError } from "./operator.ts";
import { setRole } from "./roles.ts";
import { createUser, resetPassword } from "./users.ts";
import { createWorkspace, describeWorkspaces, lockWorkspace } from "./workspaces.ts";

const USAGE = `Usage: node services/key-auth/src/admin.ts <command>, with DATABASE_URL and REDIS_URL

  workspace list
  workspace create <code>
  workspace lock <code>             the workspace's calls are refused from now on
  workspace unlock <code>
  user create <email>               password on standard input
  user password <email>             password on standard input; ends the user's sessions
  role set <email> <workspace> <member|manager|admin>
  role remove <email> <workspace>   ends the user's sessions`;

interface Command {
  parameters: number;
  run(context: OperatorContext, args: string[]): Promise<string>;
}

const COMMANDS: Record<string, Command> = {
  "workspace list": { parameters: 0, run: describeWorkspaces },
  "workspace create": { parameters: 1, run: (context, [code = ""]) => createWorkspace(context, code) },
  "workspace lock": { parameters: 1, run: (context, [code = ""]) => lockWorkspace(context, code, true) },
  "workspace unlock": { parameters: 1, run: (context, [code = ""]) => lockWorkspace(context, code, false) },
  "user create": { parameters: 1, run: (context, [email = ""]) => createUser(context, email) },
  "user password": { parameters: 1, run: (context, [email = ""]) => resetPassword(context, email) },
  "role set": {
    parameters: 3,
    run: (context, [email = "", workspace = "", role = ""]) =>
      setRole(context, { email, workspace, role: roleOf(role) }),
  },
  "role remove": {
    parameters: 2,
    run: (context, [email = "", workspace = ""]) => setRole(context, { email, workspace, role: undefined }),
  },
};

/** Parses a command. Running it resolves to what to print. Both throw an OperatorError for a faulty command. */
export function operatorCommand(argv: string[]): (context: OperatorContext) => Promise<string> {
  const [subject = "", verb = "", ...args] = positionals(argv);
  const command = COMMANDS[`${subject} ${verb}`];
  if (!command || args.length !== command.parameters) throw new OperatorError(USAGE);
  return (context) => command.run(context, args);
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
