/// Finds the empty line that ends a message's head, and reads each byte once.
struct HeadScanner {
    private var breaks = 0

    /// - Returns: whether the head ends with this byte.
    mutating func ends(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"): breaks += 1
        case UInt8(ascii: "\r"): break
        default: breaks = 0
        }
        guard breaks == 2 else { return false }
        breaks = 0
        return true
    }
}
