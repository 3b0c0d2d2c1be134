import Foundation

/// Searches the memory of another process. Only root may read the memory of another process.
struct ProcessMemory {
    let pid: pid_t

    /// Whether the tests may read the memory of this process.
    static func mayRead(_ pid: pid_t) -> Bool {
        let file = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        if file >= 0 { close(file) }
        return file >= 0
    }

    /// The names of the secrets in the process's writable memory.
    func found(_ secrets: Secrets) -> Set<String> {
        let file = open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0, let maps = FileManager.default.contents(atPath: "/proc/\(pid)/maps") else {
            return []
        }
        defer { close(file) }
        var found: Set<String> = []
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 1, words[1].hasPrefix("rw") else { continue }
            let ends = words[0].split(separator: "-").compactMap {
                UInt(truncatingIfNeeded: Int($0, radix: 16) ?? 0)
            }
            if ends.count == 2 { found.formUnion(search(file, ends[0]..<ends[1], secrets)) }
        }
        return found
    }

    /// Searches a memory region in overlapping pieces, so that no pattern is divided.
    private func search(_ file: Int32, _ region: Range<UInt>, _ secrets: Secrets) -> [String] {
        let (size, overlap) = (1 << 20, 4096)
        var buffer = [UInt8](repeating: 0, count: size)
        var found: [String] = []
        var place = region.lowerBound
        while place < region.upperBound {
            let wanted = min(size, Int(region.upperBound - place))
            let count = pread(file, &buffer, wanted, off_t(place))
            guard count > 0 else { break }
            found += buffer.withUnsafeBytes {
                secrets.found(in: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            guard count > overlap, place + UInt(count) < region.upperBound else { break }
            place += UInt(count - overlap)
        }
        return found
    }
}
