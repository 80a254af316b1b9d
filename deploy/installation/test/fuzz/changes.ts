import { credentialHeader, credentials, type FuzzHook, type Headers, isSigned, TIMED } from "./credentials.ts";
import type { Dice } from "./dice.ts";

/** A request in the making, and what is true of it. */
export interface Draft {
  hook: FuzzHook;
  method: string;
  /** Path and query. */
  target: string;
  headers: Headers;
  body: Buffer;
  t: number;
  id: string;
  chunked: boolean;
  facts: { otherMethod: boolean; unknown: boolean; loop: boolean; authentic: boolean; encoded: boolean };
}

/** Changes a request and its facts. */
type Change = (draft: Draft, dice: Dice, hooks: readonly FuzzHook[]) => void;

const OTHER_METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
const LOOPS = ["2", "3", " 2 ", "1, 2", "99999999999999999999", "02", "a,2"];
const NO_LOOPS = ["1", "0", "-2", "+2", "2.0", "0x2", "two", "", "1,1", "2 2"];
const ODD_VALUES = [
  "",
  " ",
  "=",
  ",",
  "t=",
  "v1=",
  "t=1,v1=",
  "sha256=",
  "Bearer",
  "Bearer ",
  "Basic eDp5",
  "v1,",
  "null",
];

const proofOf = ({ hook, headers }: Draft): string =>
  headers.find(([name]) => name === credentialHeader(hook))?.[1] ?? "";

function setProof(draft: Draft, value: string): void {
  const name = credentialHeader(draft.hook);
  draft.headers = draft.headers.map(([other, old]) => [other, other === name ? value : old]);
}

const spoil =
  (change: Change): Change =>
  (draft, dice, hooks) => {
    draft.facts.authentic = false;
    change(draft, dice, hooks);
  };

/** Each invalidates the sender's proof. */
const SPOILING: readonly Change[] = [
  (draft) => {
    draft.headers = draft.headers.filter(([name]) => name !== credentialHeader(draft.hook));
  },
  (draft) => void draft.headers.push([credentialHeader(draft.hook), proofOf(draft)]),
  (draft) => void draft.headers.push([credentialHeader(draft.hook), "x"]),
  (draft, dice) => setProof(draft, dice.pick(ODD_VALUES)),
  (draft, dice) =>
    setProof(
      draft,
      dice
        .bytes(40)
        .toString("latin1")
        .replaceAll(/[^\x20-\x7e\x80-\xff]/g, ""),
    ),
  (draft) => setProof(draft, `${proofOf(draft)}0${"x".repeat(3_000)}`),
  // One character of the signature or token.
  (draft, dice) => {
    const value = proofOf(draft);
    const start = value.search(/(?<=v1=|sha256=|v1,|whsec_)[A-Za-z0-9+/]/);
    const at = Math.max(start, 0) + dice.below(30);
    const other = value[at]?.toLowerCase() === "a" ? "b" : "a";
    setProof(draft, value.slice(0, at) + other + value.slice(at + 1));
  },
  (draft, dice, hooks) => {
    const others = hooks.filter(({ secret }) => secret !== draft.hook.secret);
    const { secret } = dice.pick(others.filter(({ format }) => format === draft.hook.format));
    draft.headers = credentials({ ...draft.hook, secret }, draft, dice);
  },
  (draft, dice, hooks) => {
    draft.target = dice.pick(hooks.filter(({ secret }) => secret !== draft.hook.secret)).path;
  },
  (draft, dice) => {
    const name = credentialHeader(draft.hook);
    const others = ["x-service-signature", "authorization", "x-hub-signature-256", "x-signature", "cookie"];
    const other = dice.pick(others.filter((candidate) => candidate !== name));
    draft.headers = draft.headers.map(([header, value]) => [header === name ? other : header, value]);
  },
  (draft, dice) => {
    if (!isSigned(draft.hook)) return setProof(draft, `${proofOf(draft)}x`);
    const at = dice.below(draft.body.length + 1);
    draft.body = Buffer.concat([
      draft.body.subarray(0, at),
      Buffer.from(dice.pick([" ", "0", "}"])),
      draft.body.subarray(at),
    ]);
  },
  (draft, dice) => {
    if (!TIMED.includes(draft.hook.format)) return setProof(draft, "");
    const away = dice.pick([400, -400, 86_400, -86_400, 1e9, -draft.t]);
    draft.headers = credentials(draft.hook, { ...draft, t: draft.t + away }, dice);
  },
  (draft, dice) => {
    const odd = dice.pick(["now", "1.5", "-1", "", "1e9", "9".repeat(400), `+${draft.t}`, `${draft.t} ${draft.t}`]);
    if (draft.hook.format === "standard") {
      draft.headers = draft.headers.map(([name, value]) => [name, name === "webhook-timestamp" ? odd : value]);
    } else setProof(draft, proofOf(draft).replace(/^t=\d+/, `t=${odd}`));
    if (!TIMED.includes(draft.hook.format)) setProof(draft, odd);
  },
];

/** Each leaves a correct call correct. */
const HARMLESS: readonly Change[] = [
  (draft) => {
    if (["native", "stripe", "github"].includes(draft.hook.format))
      setProof(
        draft,
        proofOf(draft).replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()),
      );
  },
  (draft) => {
    if (draft.hook.format === "native" || draft.hook.format === "stripe")
      setProof(draft, `v0=x,${proofOf(draft)},v1=${"0".repeat(64)},v2=,x`);
    if (draft.hook.format === "standard") setProof(draft, `v1a,x v1,eA== ${proofOf(draft)} v2,`);
    if (draft.hook.format === "bearer") setProof(draft, proofOf(draft).replace("Bearer", "bEARER"));
  },
  (draft, dice) => {
    const own = credentialHeader(draft.hook);
    const noise = ["x-service-signature", "processor-signature", "authorization", "cookie", "x-forwarded-host"];
    for (const name of noise) if (name !== own && dice.chance(0.5)) draft.headers.push([name, dice.pick(ODD_VALUES)]);
  },
  (draft, dice) => void draft.headers.push(["x-service-hop", dice.pick(NO_LOOPS)]),
  (draft) => void draft.headers.push(["content-encoding", "identity"]),
  (draft) => {
    draft.target += "?x=1&hop=2";
  },
  (draft) => {
    draft.chunked = true;
  },
  (draft) => {
    draft.headers = draft.headers.map(([name, value]) => [name.toUpperCase(), value]);
  },
];

/** Each makes another check refuse the call. */
const REFUSED: readonly Change[] = [
  (draft, dice) => {
    draft.method = dice.pick(OTHER_METHODS);
    draft.facts.otherMethod = true;
  },
  (draft, dice) => {
    const { path } = draft.hook;
    const others = [
      `${path}/`,
      path.slice(0, -1),
      `${path}x`,
      path.toUpperCase(),
      "/api/v1/hooks/hk_",
      "/api/v1/hooks/",
    ];
    draft.target = dice.pick([...others, `/api/v1/hooks/hk_${"x".repeat(70)}`, `${path}%00`, `/api/v1/hooks/${path}`]);
    draft.facts.unknown = true;
  },
  (draft, dice) => {
    draft.headers.push(["x-service-hop", dice.pick(LOOPS)]);
    draft.facts.loop = true;
  },
  (draft, dice) => {
    draft.headers.push(["content-encoding", dice.pick(["gzip", "br", "deflate", "identity, gzip", "x", "aes128gcm"])]);
    draft.facts.encoded = true;
  },
];

/** Changes a request in up to two ways that do not undo each other. */
export function change(draft: Draft, dice: Dice, hooks: readonly FuzzHook[]): void {
  const kind = dice.below(10);
  if (kind < 4) spoil(dice.pick(SPOILING))(draft, dice, hooks);
  else if (kind < 7) dice.pick(HARMLESS)(draft, dice, hooks);
  if (dice.chance(0.15)) dice.pick(REFUSED)(draft, dice, hooks);
}
