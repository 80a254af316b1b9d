import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { MANAGED_SERVICES } from "@toolgate/gateway/http/management/management-routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTEMPTS } from "../tenants/attempts.ts";
import { openTenants, type Tenants } from "../tenants/rig.ts";

type Json = Record<string, unknown>;

const TEXTS = [
  "",
  " ",
  "0",
  "-1",
  "null",
  "__proto__",
  "constructor",
  "\u{1f600}",
  "\uffff",
  "9999-12-31",
  "x".repeat(10_000),
];
const INT32 = [0, 1, -1, 2_147_483_647, -2_147_483_648];
const UINT32 = [0, 1, 4_294_967_295];
const INT64 = ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"];
const UINT64 = ["0", "18446744073709551615"];
const DOUBLES = [0, -0.5, 1e308, 5e-324, "NaN", "Infinity"];
const TIMES = [
  "0001-01-01T00:00:00Z",
  "1969-12-31T23:59:59.9Z",
  "9999-12-31T23:59:59.999999999Z",
  "2027-02-30T00:00:00Z",
];
const DEEP = JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`);
const STRUCTS = [{}, { a: null, "": "", b: [1e308, -0, "\uffff"] }, DEEP, { "\u{1f600}": -5e-324 }];

const SCALARS = new Map<ScalarType, readonly unknown[]>([
  [ScalarType.STRING, TEXTS],
  [ScalarType.BOOL, [false, true]],
  [ScalarType.INT32, INT32],
  [ScalarType.UINT32, UINT32],
  [ScalarType.INT64, INT64],
  [ScalarType.UINT64, UINT64],
  [ScalarType.DOUBLE, DOUBLES],
  [ScalarType.FLOAT, DOUBLES],
  [ScalarType.BYTES, ["", "AA==", "/w=="]],
]);

/** Values at the edges of what a field can hold; for a message, each of its fields in turn. */
function edges(field: DescField, base: unknown): unknown[] {
  const { fieldKind } = field;
  const single = field.message
    ? ofMessage(field.message, base)
    : (ofEnum(field) ?? SCALARS.get(field.scalar as ScalarType) ?? []);
  if (fieldKind === "list")
    return [[], ...single.map((value) => [value]), Array.from({ length: 101 }, () => single.at(-1))];
  if (fieldKind === "map") return [{}, ...TEXTS.map((name) => ({ [name]: single[0] }))];
  return [...single];
}

function ofEnum(field: DescField): unknown[] | undefined {
  return field.enum?.values.map(({ name }) => name);
}

function ofMessage(message: DescMessage, base: unknown): unknown[] {
  if (message.typeName === "google.protobuf.Timestamp") return TIMES;
  if (message.typeName === "google.protobuf.Struct") return STRUCTS;
  if (message.typeName.startsWith("google.protobuf.")) return [];
  return [{}, ...variants(message, (base ?? {}) as Json)];
}

/** The request with one of its fields at an edge. */
function variants(message: DescMessage, request: Json): Json[] {
  return message.fields
    .filter(({ name }) => name !== "workspace")
    .flatMap((field) =>
      edges(field, request[field.jsonName]).map((value) => ({ ...request, [field.jsonName]: value })),
    );
}

const METHODS = new Map<string, DescMethod>(
  MANAGED_SERVICES.flatMap(([, { typeName, methods }]) =>
    methods.map((method) => [`${typeName.replace("toolgate.", "")}/${method.name}`, method] as const),
  ),
);
const isReading = (rpc: string) => /\/(List|Get|Count|Preview|Explain)/.test(rpc);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await openTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

test.each(Object.keys(ATTEMPTS))(
  "[MGMT] [WMGMT] %s: no value gets an internal error, and what it stores can be read",
  async (rpc) => {
    const { input } = METHODS.get(rpc) as DescMethod;
    const { first } = tenants;
    const service = rpc.split("/")[0] ?? "";
    const reads = Object.entries(ATTEMPTS).filter(([other]) => other.startsWith(`${service}/`) && isReading(other));
    for (const request of variants(input, ATTEMPTS[rpc]?.request(first) ?? {})) {
      const response = await first.call(rpc, request);
      const sent = JSON.stringify(request).slice(0, 300);
      expect([response.status < 500, sent, response.text.slice(0, 300)]).toEqual([
        true,
        sent,
        response.text.slice(0, 300),
      ]);
      if (response.status !== 200 || isReading(rpc)) continue;
      for (const [read, attempt] of reads) {
        const { status, text } = await first.call(read, attempt.request(first));
        expect([read, status < 500, sent, text.slice(0, 200)]).toEqual([read, true, sent, text.slice(0, 200)]);
      }
    }
  },
);
