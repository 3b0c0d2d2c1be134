extension ParsedJob {
    /// The job's JSON without some of its pushes. The field `capped` has their number, and says that the budget of background pushes
    /// was applied.
    ///
    /// - Parameter pushes: the indexes of the omitted pushes in ``pushes``.
    /// - Returns: nil if the job has no field with tokens.
    package func capping(_ pushes: Set<Int>) -> [UInt8]? {
        let indexes = Set(pushes.map { self.pushes[$0].index })
        return raw.withUnsafeBytes { bytes in
            guard let parts = try? Self.parts(of: bytes) else { return nil }
            var job = Array(raw[..<parts.start])
            job += "\"\(JobField.capped.name)\":\(pushes.count),".utf8
            var isFirst = true
            job += raw[parts.start..<parts.elements.lowerBound]
            for (index, element) in parts.ranges.enumerated() where !indexes.contains(UInt32(clamping: index))
            {
                if !isFirst { job.append(UInt8(ascii: ",")) }
                isFirst = false
                job += raw[element]
            }
            return job + raw[parts.elements.upperBound...]
        }
    }

    private struct Parts {
        /// The offset after the first bracket of the job.
        let start: Int
        /// The range between the brackets of the array with the pushes.
        var elements: Range<Int> = 0..<0
        /// The range of each element of the array.
        var ranges: [Range<Int>] = []
    }

    /// Finds the array with the pushes. The parser has read the job before, so the JSON is valid.
    private static func parts(of bytes: UnsafeRawBufferPointer) throws -> Parts? {
        var scanner = JSONScanner(bytes)
        try scanner.start()
        try scanner.enterObject()
        var parts = Parts(start: scanner.position)
        while let key = try scanner.nextKey() {
            guard scanner.matches(key, "tokens") || scanner.matches(key, "pushes") else {
                _ = try scanner.skipValue()
                continue
            }
            try scanner.enterArray()
            let start = scanner.position
            while try scanner.nextElement() { parts.ranges.append(try scanner.skipValue()) }
            parts.elements = start..<scanner.position - 1
            return parts
        }
        return nil
    }
}
