extension UnsafeRawBufferPointer {
    /// Whether the bytes equal the bytes of `text`. The comparison of the standard library reads strings byte by byte
    /// through an iterator. It took most of the time that the check of a push takes, so this function is used instead.
    package func equals(_ text: String) -> Bool { count == text.utf8.count && hasPrefix(text) }

    /// Whether the bytes begin with the bytes of `text`.
    package func hasPrefix(_ text: String) -> Bool {
        guard count >= text.utf8.count else { return false }
        let isPrefix = text.utf8.withContiguousStorageIfAvailable { prefix in
            var difference: UInt8 = 0
            for index in prefix.indices { difference |= prefix[index] ^ self[index] }
            return difference == 0
        }
        return isPrefix ?? starts(with: text.utf8)
    }

    /// Returns the bytes after the first `count` bytes. There must be at least `count` bytes.
    package func after(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[count...])
    }
}

extension String {
    /// The longest prefix of whole characters (Unicode scalars) with at most `limit` bytes of UTF-8.
    func truncated(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
