/// The first byte of an item in a results entry.
enum ResultsKind: UInt8 {
    case delivered = 0x44  // D
    case failed = 0x46  // F
    case expired = 0x45  // E
    case retry = 0x52  // R
    case letter = 0x4C  // L
}
