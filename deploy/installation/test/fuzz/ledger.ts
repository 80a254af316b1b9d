import type { HookCase, Original } from "./hook-cases.ts";
import { hasKey } from "./hook-cases.ts";
import type { FuzzResponse } from "./send.ts";

/** What the hooks have responded, and whether that was right. */
export interface Ledger {
  /** The last accepted calls that may be repeated; some places may be empty. */
  originals: Original[];
  /** Ids of the deliveries that were accepted. */
  accepted: Set<string>;
  /** Responses by status. */
  statuses: Map<number, number>;
  /** Notes the responses to the copies of a case. Throws when they break a rule. */
  note(hookCase: HookCase, responses: readonly FuzzResponse[]): void;
}

/** Enough to choose from, and so few that their signatures stay within the tolerance. */
const MAX_ORIGINALS = 1_000;
const ERROR_TEXT =
  /^\{"success":false,"error":"[A-Za-z ]+"(?:,"details":\[\{"field":"","rule":"body","message":"[^"]+"\}\])?\}$/;

export function createLedger(): Ledger {
  const originals: Original[] = [];
  const accepted = new Set<string>();
  const statuses = new Map<number, number>();
  const idOfGroup = new Map<number, string>();

  function noteOne(hookCase: HookCase, { status, text }: FuzzResponse): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200 && status !== 202) {
      if (hookCase.method !== "HEAD" && !ERROR_TEXT.test(text)) throw new Error(`the error is ${text}`);
      return;
    }
    const { delivery_id: id, ...rest } = JSON.parse(text);
    const flag = status === 202 ? { accepted: true } : { duplicate: true };
    if (JSON.stringify(rest) !== JSON.stringify({ success: true, ...flag })) throw new Error(`the response is ${text}`);
    if (status === 202) {
      if (accepted.has(id)) throw new Error(`${id} was accepted twice`);
      accepted.add(id);
    }
    const { group } = hookCase;
    if (group === undefined) return;
    const known = idOfGroup.get(group);
    if (known !== undefined && known !== id) throw new Error(`the call was accepted as ${known}, and now is ${id}`);
    if (known !== undefined && status === 202) throw new Error(`the call was accepted again as ${id}`);
    idOfGroup.set(group, id);
    if (known === undefined && hasKey(hookCase)) {
      const { hook, t, id: externalId, body, headers } = hookCase;
      const contentType = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
      originals[accepted.size % MAX_ORIGINALS] = { hook, t, id: externalId, body, contentType, group };
    }
  }

  return {
    originals,
    accepted,
    statuses,
    note(hookCase, responses) {
      const { expected } = hookCase;
      const got = responses.map(({ status }) => status).sort();
      // One of several copies is accepted, and the others are duplicates.
      const fits =
        responses.length > 1 && expected[0] === 202
          ? got.every((status, at) => status === (at === got.length - 1 ? 202 : 200))
          : got.every((status) => expected.includes(status));
      if (!fits) throw new Error(`expected ${expected}, got ${got}`);
      // The accepted copy first.
      for (const response of [...responses].sort((left, right) => right.status - left.status))
        noteOne(hookCase, response);
    },
  };
}
