const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An id from a request; what is no UUID finds nothing. */
export function uuidOrNull(id: string): string | null {
  return UUID.test(id) ? id : null;
}
