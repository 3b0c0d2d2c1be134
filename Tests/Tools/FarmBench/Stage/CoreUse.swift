import Foundation

/// How long some cores were busy and idle, from /proc/stat.
package struct CoreUse: Sendable, Hashable {
    /// The busy seconds of all the cores together.
    package let busy: Double
    package let idle: Double

    /// - Parameter text: the content of /proc/stat, with times in hundredths of a second.
    package init(of cores: [Int], in text: String) {
        var (busy, idle) = (0.0, 0.0)
        let names = Set(cores.map { "cpu\($0)" })
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let name = words.first, names.contains(String(name)), words.count > 8 else { continue }
            // The fields: user nice system idle iowait irq softirq steal. The time of guests is part of user.
            let numbers = words[1...8].map { (Double($0) ?? 0) / 100 }
            idle += numbers[3] + numbers[4]
            busy += numbers.reduce(0, +) - numbers[3] - numbers[4]
        }
        (self.busy, self.idle) = (busy, idle)
    }

    static func now(of cores: Cores) -> CoreUse {
        let text = FileManager.default.contents(atPath: "/proc/stat") ?? Data()
        return CoreUse(of: cores.numbers, in: String(decoding: text, as: UTF8.self))
    }

    /// `seconds` as a share of the time of all the cores since `before`.
    package func share(of seconds: Double, since before: CoreUse) -> Double {
        let all = busy - before.busy + idle - before.idle
        return all > 0 ? seconds / all : 0
    }

    /// The share of the time since `before` that other processes used, if the bench used `ours` seconds.
    package func shareOfOthers(since before: CoreUse, ours: Double) -> Double {
        let (worked, rested) = (busy - before.busy, idle - before.idle)
        return worked + rested > 0 ? max(0, worked - ours) / (worked + rested) : 0
    }
}
