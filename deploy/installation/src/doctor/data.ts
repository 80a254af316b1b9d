import { access } from "node:fs/promises";
import { join } from "node:path";
import { canOpenInstallation } from "@toolgate/key-auth/operator/provision";
import type { Pool } from "@toolgate/postgres/pool";
import { createSecretBox, parseSealingKeys } from "@toolgate/secret-box/secret-box";
import { migrationsOf } from "@toolgate/service-registry/paths";
import type { Findings } from "./finding.ts";
import type { Member } from "./installation.ts";

const FILES_LOOKED_AT = 1_000;

/** What a service's own data shows: sealed with other keys, files lost, messages that nobody could process. */
export async function checkData(pool: Pool, { user, env }: Member, findings: Findings): Promise<void> {
  const { schema } = migrationsOf(user.service);
  if (user.service === "key-auth") await checkSealingKeys(pool, env.SEALING_KEYS ?? "", findings);
  if (user.service === "chat" && env.CHAT_FILES) await checkFiles(pool, env.CHAT_FILES, findings);
  await checkParked(pool, schema, findings);
}

async function checkSealingKeys(pool: Pool, text: string, findings: Findings): Promise<void> {
  let box: ReturnType<typeof createSecretBox>;
  try {
    box = createSecretBox({ keys: parseSealingKeys(text) });
  } catch {
    // The settings report it.
    return;
  }
  if (await canOpenInstallation(pool, box)) return;
  findings.add(
    "data",
    "SEALING_KEYS cannot open the secrets in this database",
    "Restore the SEALING_KEYS with which the database was used, from where you keep them: docs/backup.md.",
  );
}

async function checkFiles(pool: Pool, folder: string, findings: Findings): Promise<void> {
  const { rows } = await pool.query(
    "select id from chat.file where size > 0 and expires_at > now() order by created_at desc limit $1",
    [FILES_LOOKED_AT],
  );
  const found = await Promise.all(
    rows.map(({ id }) =>
      access(join(folder, id)).then(
        () => true,
        () => false,
      ),
    ),
  );
  const lost = found.filter((isThere) => !isThere).length;
  if (lost === 0) return;
  findings.add(
    "data",
    `${lost} of the ${rows.length} newest uploaded files are not in the folder of CHAT_FILES`,
    "Restore the folder from its backup, or accept that assistants answer without these files: docs/backup.md.",
  );
}

async function checkParked(pool: Pool, schema: string, findings: Findings): Promise<void> {
  const exists = await pool.query("select to_regclass($1) is not null as exists", [`${schema}.parked_message`]);
  if (!exists.rows[0].exists) return;
  const { rows } = await pool.query(
    `select count(*)::int as count, max(reason) as reason from ${schema}.parked_message`,
  );
  const { count } = rows[0];
  if (count === 0) return;
  findings.add(
    "data",
    `${count} messages could not be processed and are in ${schema}.parked_message`,
    "Read their reasons with the query in docs/operators.md, What to watch, and delete them when they are dealt with.",
  );
}
