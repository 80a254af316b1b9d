const INTEGER = /^[0-9]+$/;
/** [LOOP-3] */
const FIRST_LOOP_HOP = 2;

/**
 * [LOOP-3] Whether a hook call continues a loop: the largest number in its hop headers, each of which may be a list, is 2 or
 * higher. A missing header, or one that is not a number, counts as 1.
 */
export function isLoop(hopHeaders: readonly string[]): boolean {
  return hopHeaders
    .flatMap((value) => value.split(","))
    .map((part) => part.trim())
    .some((part) => INTEGER.test(part) && Number(part) >= FIRST_LOOP_HOP);
}
