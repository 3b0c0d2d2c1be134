#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reads small files whole.
enum FileBytes {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        guard ferror(file) == 0 else { throw Failure(description: "\(path): cannot be read") }
        return bytes
    }
}
