import type { JsonObject } from "@toolgate/rules/json-object";
import { type ExampleCall, KEY_VARIABLE, TIMEOUT_S } from "../example-call.ts";
import { type LiteralStyle, literal } from "../literal.ts";

const UNPRINTABLE = /[\p{Cc}\u2028\u2029]/u;
const SPECIAL = /[\\"$\p{Cc}\u2028\u2029]/gu;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const LIKE_A_NUMBER = /^-?\d+$/;

/** In double quotes only if it has what single quotes cannot escape, such as line breaks. */
function textOf(text: string): string {
  if (!UNPRINTABLE.test(text)) return `'${text.replace(/[\\']/g, "\\$&")}'`;
  const escaped = text.replace(SPECIAL, (character) => {
    if (/[\\"$]/.test(character)) return `\\${character}`;
    return ESCAPES[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`;
  });
  return `"${escaped}"`;
}

/** An array that PHP would take for a list is made an object. */
function isLikeList(object: JsonObject): boolean {
  return Object.keys(object).every((name) => LIKE_A_NUMBER.test(name));
}

const STYLE: LiteralStyle = {
  text: textOf,
  member: (name) => `${textOf(name)} => `,
  true: "true",
  false: "false",
  null: "null",
  object: (object) => [isLikeList(object) ? "(object) [" : "[", "]"],
};

/** [BLD-11] */
export function phpGuzzle({ url, args }: ExampleCall): string {
  return `<?php
// call.php, needs guzzlehttp/guzzle
require 'vendor/autoload.php';

$client = new GuzzleHttp\\Client();
$response = $client->post(${textOf(url)}, [
    'headers' => ['Authorization' => 'Bearer ' . getenv('${KEY_VARIABLE}')],
    'json' => ${literal({ args }, STYLE, "    ")},
    'timeout' => ${TIMEOUT_S},
    'http_errors' => false,
]);
$result = json_decode((string) $response->getBody(), true, 512, JSON_THROW_ON_ERROR);
if ($response->getStatusCode() !== 200) {
    throw new RuntimeException($result['error']);
}
print_r($result);
`;
}

/** [BLD-12] */
export function phpCurl({ url, args }: ExampleCall): string {
  return `<?php
// call.php, needs the curl extension
$request = curl_init(${textOf(url)});
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => ${TIMEOUT_S},
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('${KEY_VARIABLE}'),
        'Content-Type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode(${literal({ args }, STYLE, "    ")}, JSON_THROW_ON_ERROR),
]);
$body = curl_exec($request);
if ($body === false) {
    throw new RuntimeException(curl_error($request));
}
$result = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
if (curl_getinfo($request, CURLINFO_RESPONSE_CODE) !== 200) {
    throw new RuntimeException($result['error']);
}
print_r($result);
`;
}
