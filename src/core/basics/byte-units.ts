export const KIBIBYTE = 2 ** 10;
export const MEBIBYTE = 2 ** 20;
export const GIBIBYTE = 2 ** 30;
