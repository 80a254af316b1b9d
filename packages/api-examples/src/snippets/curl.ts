import { bodyOfCall, descriptionUrl, type ExampleCall, KEY_VARIABLE } from "../example-call.ts";

const AUTHORIZATION = `-H "Authorization: Bearer $${KEY_VARIABLE}"`;

/** For a POSIX shell: between single quotes nothing but their end is special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** [BLD-8] */
export function curl(call: ExampleCall): string {
  return `curl -i ${quoted(call.url)} \\
  ${AUTHORIZATION} \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(bodyOfCall(call))}
`;
}

/** [BLD-22] */
export function curlForDescription(baseUrl: string): string {
  return `curl -s ${quoted(descriptionUrl(baseUrl))} \\
  ${AUTHORIZATION}
`;
}
