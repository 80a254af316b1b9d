<?php
// Receives Toolgate's webhooks. PHP 8.1 or newer, no packages:
//
//   WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php   receives
//   php receiver.php                                            processes what was received
//
// PHP's built-in server is for development; this file also runs behind a production web server. During a secret
// rotation, give both secrets, separated by a comma. WEBHOOK_STATE is the folder for ids and events, by default inside
// the system's temporary folder.

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 262_144;
const MAX_REMEMBERED = 10_000;
const MAX_INBOX_BYTES = 67_108_864;
const UUID = '/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/Di';

/**
 * True when one of the secrets signed the raw body (the exact bytes received) within five minutes of now. The key is
 * the whole secret, including `whsec_`. If you use a Standard Webhooks library, verify the headers `webhook-id`,
 * `webhook-timestamp` and `webhook-signature` instead of this one.
 */
function verify(array $secrets, string $header, string $rawBody, ?int $now = null): bool
{
    $times = [];
    $given = [];
    foreach (array_map('trim', explode(',', $header)) as $part) {
        if (str_starts_with($part, 't=')) {
            $times[] = substr($part, 2);
        } elseif (preg_match('/^v1=[0-9a-f]{64}$/Di', $part) === 1) {
            $given[] = strtolower(substr($part, 3));
        }
    }
    if (count($times) !== 1 || preg_match('/^[0-9]{1,15}$/D', $times[0]) !== 1) {
        return false;
    }
    if (abs(($now ?? time()) - (int) $times[0]) > TOLERANCE_SECONDS) {
        return false;
    }
    $matches = false;
    foreach ($secrets as $secret) {
        $expected = hash_hmac('sha256', $times[0] . '.' . $rawBody, $secret);
        foreach ($given as $signature) {
            $matches = hash_equals($expected, $signature) || $matches;
        }
    }
    return $matches;
}

/** Deliveries arrive in any order. If order matters, sort by the time of the event. */
function inOrder(array $events): array
{
    usort($events, fn (array $a, array $b): int =>
        new DateTimeImmutable($a['created']) <=> new DateTimeImmutable($b['created']));
    return $events;
}

/** The event in a verified body; null if it is not one. Unknown fields are ignored. */
function parseEvent(string $rawBody): ?array
{
    $event = json_decode($rawBody, true);
    foreach (['id', 'type', 'created'] as $field) {
        if (!is_array($event) || !is_string($event[$field] ?? null)) {
            return null;
        }
    }
    return date_create_immutable($event['created']) === false ? null : $event;
}

function stateFile(string $name): string
{
    $folder = getenv('WEBHOOK_STATE') ?: sys_get_temp_dir() . '/webhook-receiver';
    if (!is_dir($folder) && !@mkdir($folder, 0700, true) && !is_dir($folder)) {
        throw new RuntimeException("no folder $folder");
    }
    return "$folder/$name";
}

/** Locks a file, passes its lines to `$change`, and writes back the lines that it returns. */
function withLines(string $name, callable $change): void
{
    $file = fopen(stateFile($name), 'c+');
    flock($file, LOCK_EX);
    $kept = $change(array_filter(explode("\n", stream_get_contents($file)), 'strlen'));
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, implode("\n", $kept));
    fclose($file);
}

/**
 * Accepts a verified event and returns the HTTP status. The files take the place of your database. If no event may be
 * lost or processed twice, store its id and the event in one database transaction before you respond.
 */
function accept(string $delivery, array $event, string $rawBody): int
{
    // A delivery keeps its id on every retry; a resend by hand has a new one and keeps the id of the event.
    $key = getenv('ONCE_BY_EVENT') === '1' ? $event['id'] : $delivery;
    $status = 204;
    withLines('known', function (array $known) use ($key, $delivery, $event, $rawBody, &$status): array {
        if (in_array($key, $known, true)) {
            say("duplicate $delivery");
            return $known;
        }
        $inbox = stateFile('inbox');
        if (is_file($inbox) && filesize($inbox) > MAX_INBOX_BYTES) {
            $status = 503; // Toolgate retries later
            return $known;
        }
        file_put_contents($inbox, base64_encode($rawBody) . "\n", FILE_APPEND | LOCK_EX);
        say("received $delivery {$event['id']} {$event['type']}");
        return array_slice([...$known, $key], -MAX_REMEMBERED);
    });
    return $status;
}

function say(string $line): void
{
    file_put_contents('php://stdout', "$line\n");
}

function statusForRequest(): int
{
    $secrets = array_filter(array_map('trim', explode(',', (string) getenv('WEBHOOK_SECRET'))), 'strlen');
    if ($secrets === []) {
        error_log('WEBHOOK_SECRET is missing');
        return 500;
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    $rawBody = file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($rawBody) > MAX_BODY_BYTES) {
        return 413;
    }
    if (!verify($secrets, $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '', $rawBody)) {
        return 401;
    }
    $event = parseEvent($rawBody);
    $delivery = $_SERVER['HTTP_X_SERVICE_DELIVERY'] ?? '';
    if ($event === null || preg_match(UUID, $delivery) !== 1) {
        return 400;
    }
    return accept($delivery, $event, $rawBody);
}

function workOnInbox(): void
{
    withLines('inbox', function (array $lines): array {
        foreach (inOrder(array_map(fn (string $line): array => json_decode(base64_decode($line), true), $lines)) as $event) {
            say("worked {$event['id']}"); // your own processing, after the response
        }
        return [];
    });
}

if (PHP_SAPI === 'cli') {
    workOnInbox();
} else {
    http_response_code(statusForRequest());
}
