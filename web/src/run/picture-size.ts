export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Reads the size from the first bytes of a picture, before a browser makes room for its points. */
export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return SIZES.map((sizeOf) => sizeOf(view)).find((size) => size !== undefined);
  } catch (error) {
    if (error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

const SIZES: readonly ((view: DataView) => PictureSize | undefined)[] = [
  pngSize,
  gifSize,
  webpSize,
  jpegSize,
];

function pngSize(view: DataView): PictureSize | undefined {
  return view.getUint32(0) === 0x89504e47 && view.getUint32(12) === 0x49484452
    ? { width: view.getUint32(16), height: view.getUint32(20) }
    : undefined;
}

function gifSize(view: DataView): PictureSize | undefined {
  return view.getUint32(0) === 0x47494638
    ? { width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : undefined;
}

function webpSize(view: DataView): PictureSize | undefined {
  if (view.getUint32(0) !== 0x52494646 || view.getUint32(8) !== 0x57454250) {
    return undefined;
  }
  switch (view.getUint32(12)) {
    case 0x56503858: {
      const threeBytes = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
      return { width: threeBytes(24), height: threeBytes(27) };
    }
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
}

/** Goes from segment to segment, up to the one that begins a frame. */
function jpegSize(view: DataView): PictureSize | undefined {
  if (view.getUint16(0) !== 0xffd8) {
    return undefined;
  }
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const beginsFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (view.getUint8(at) !== 0xff) {
      return undefined;
    }
    if (beginsFrame) {
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
  }
}
