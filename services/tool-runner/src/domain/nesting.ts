/** How many levels deep tools call each other: the tool that is called from outside is the first. */
export const MAX_NESTING = 8;
