import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Guzzle's client as far as a snippet uses it, for machines without the package. */
const GUZZLE = `<?php
namespace GuzzleHttp;
class Client {
  public function post($url, $options) {
    $request = curl_init($url);
    $headers = ['Content-Type: application/json'];
    foreach ($options['headers'] as $name => $value) $headers[] = "$name: $value";
    curl_setopt_array($request, [CURLOPT_POST => true, CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => $headers,
      CURLOPT_POSTFIELDS => json_encode($options['json'], JSON_THROW_ON_ERROR)]);
    $body = curl_exec($request);
    return new Response($body, curl_getinfo($request, CURLINFO_RESPONSE_CODE));
  }
}
class Response {
  public function __construct(private $body, private $status) {}
  public function getBody() { return $this->body; }
  public function getStatusCode() { return $this->status; }
}
`;

interface Interpreter {
  file: string;
  command: readonly [program: string, ...args: string[]];
  /** Succeeds when the machine has all that the snippet needs. */
  probe: readonly [program: string, ...args: string[]];
}

const PHP_PROBE = ["php", "-r", "exit(extension_loaded('curl') ? 0 : 1);"] as const;
const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  curl: { file: "call.sh", command: ["sh", "call.sh"], probe: ["curl", "--version"] },
  javascript: { file: "call.mjs", command: ["node", "call.mjs"], probe: ["node", "--version"] },
  python: { file: "call.py", command: ["python3", "call.py"], probe: ["python3", "-c", "import requests"] },
  "php-guzzle": { file: "call.php", command: ["php", "call.php"], probe: PHP_PROBE },
  "php-curl": { file: "call.php", command: ["php", "call.php"], probe: PHP_PROBE },
};

/** Whether this machine can run a snippet of this kind. */
export async function canRunSnippet(kind: string): Promise<boolean> {
  const [program, ...args] = interpreterOf(kind).probe;
  return run(program, args).then(
    () => true,
    () => false,
  );
}

/** Runs a snippet as a caller would, in a folder of its own. Resolves with what it printed; rejects when it fails. */
export async function runSnippet(kind: string, source: string, env: Record<string, string>): Promise<string> {
  const { file, command } = interpreterOf(kind);
  const [program, ...args] = command;
  const folder = await mkdtemp(join(tmpdir(), "toolgate-snippet-"));
  try {
    await mkdir(join(folder, "vendor"));
    await writeFile(join(folder, "vendor/autoload.php"), GUZZLE);
    await writeFile(join(folder, file), source);
    const { stdout } = await run(program, args, { cwd: folder, env: { ...process.env, ...env } });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function interpreterOf(kind: string): Interpreter {
  const interpreter = INTERPRETERS[kind];
  if (!interpreter) throw new Error(`no interpreter for ${kind}`);
  return interpreter;
}
