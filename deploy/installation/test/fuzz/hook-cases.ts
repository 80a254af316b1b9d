import { type FuzzBody, MAX_BODY_BYTES, makeBody } from "./bodies.ts";
import { change, type Draft } from "./changes.ts";
import { credentials, type FuzzHook } from "./credentials.ts";
import { type Dice, diceFor } from "./dice.ts";

/** A request to a hook, and the statuses that the documentation allows for it. */
export interface HookCase extends Draft {
  expected: readonly number[];
  /** Calls with the same group are the same call to their hook. Undefined for random bytes. */
  group: number | undefined;
  /** How many copies are sent at the same time. */
  copies: number;
}

/** A call that got a 202: what a repeat of it needs. */
export interface Original extends Pick<Draft, "hook" | "t" | "id" | "body"> {
  contentType: string | undefined;
  group: number;
}

interface CaseOptions {
  seed: number;
  index: number;
  hooks: readonly FuzzHook[];
  /** Calls that were accepted so far. */
  originals: readonly Original[];
  /** Unix time. */
  now: number;
}

/** How old a repeated call may be: well within the tolerance of 300 s. */
const MAX_AGE_SECONDS = 200;

export function makeHookCase({ seed, index, hooks, originals, now }: CaseOptions): HookCase {
  const dice = diceFor(seed, index);
  const original = originals[dice.below(originals.length)];
  if (original && now - original.t < MAX_AGE_SECONDS && dice.chance(0.15)) return repeat(original, dice, index);
  const hook = dice.pick(hooks);
  const body = makeBody(dice, `${seed}-${index}`);
  const draft = draftOf(
    hook,
    { body: body.bytes, t: now, id: idOf(hook, dice, `${seed}-${index}`) },
    body.contentType,
    dice,
  );
  change(draft, dice, hooks);
  const isNew = body.verdict !== "random";
  const copies = isNew && hasKey(draft) && dice.chance(0.05) ? 2 + dice.below(3) : 1;
  return { ...draft, expected: statuses(draft, body.verdict), group: isNew ? index : undefined, copies };
}

/** Most senders send an id; some need one. */
function idOf({ format }: FuzzHook, dice: Dice, nonce: string): string {
  if (format !== "standard" && dice.chance(0.3)) return "";
  return dice.pick([nonce, `${nonce} ${"x".repeat(300)}`, `\xe9\xff ${nonce}`, `{{${nonce}}}`, `'${nonce}"\\`]);
}

function draftOf(
  hook: FuzzHook,
  signed: { body: Buffer; t: number; id: string },
  contentType: string | undefined,
  dice: Dice,
): Draft {
  const headers = credentials(hook, signed, dice);
  if (contentType !== undefined) headers.push(["content-type", contentType]);
  const facts = { otherMethod: false, unknown: false, loop: false, authentic: true, encoded: false };
  return { hook, method: "POST", target: hook.path, headers, ...signed, chunked: false, facts };
}

/** In the order of the checks. */
function statuses({ facts, body }: Draft, verdict: FuzzBody["verdict"]): readonly number[] {
  if (facts.otherMethod) return [405];
  if (facts.unknown) return [404];
  if (facts.loop) return [508];
  if (body.length > MAX_BODY_BYTES) return [413];
  if (!facts.authentic) return [401];
  if (facts.encoded) return [400];
  if (verdict === "random") return [200, 202, 400];
  return [verdict === "invalid" ? 400 : 202];
}

/** Whether Toolgate can recognise a repeat of the call. */
export function hasKey({ hook, id }: Pick<Draft, "hook" | "id">): boolean {
  return hook.format !== "bearer" || id !== "";
}

/** The same call again: exactly, or as its format allows. */
function repeat({ hook, t, id, body, contentType, group }: Original, dice: Dice, index: number): HookCase {
  const other = Buffer.from(/www-form/i.test(contentType ?? "") ? `other=${index}` : `{"other":${index}}`);
  const again = { body, t, id };
  const byId = id === "" ? [again] : [again, { body: other, t: t - 1, id }, { body: other, t, id }];
  const ways: Record<FuzzHook["format"], (typeof again)[]> = {
    native: [...byId, { body, t, id: `new ${index}` }],
    stripe: [again],
    shopify: [again, { body, t, id: `new ${index}` }],
    bearer: byId,
    github: byId,
    standard: byId,
  };
  const eventId = hook.format === "stripe" && /^\{"id":"([^"]*)"/.exec(body.toString("latin1"))?.[1];
  if (eventId) ways.stripe.push({ body: Buffer.from(`{"other":${index},"id":"${eventId}"}`), t: t - 1, id });
  const draft = draftOf(hook, dice.pick(ways[hook.format]), contentType, dice);
  return { ...draft, expected: [200], group, copies: 1 };
}
