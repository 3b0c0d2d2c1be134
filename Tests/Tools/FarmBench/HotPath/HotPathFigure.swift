import Foundation

/// The instructions that a worker needs for a push, with the functions that need them.
package struct HotPathFigure: Codable, Sendable, Hashable {
    package var instructions: Double
    /// The instructions per push of each function that has at least a thousandth of the total.
    package var functions: [String: Double]
    package var parts: [String: Double]
    /// The versions of the software that the count depends on: libraries, compiler, valgrind.
    package var versions: [String: String]

    /// - Parameter profile: the profile of a run with `pushes` pushes.
    package init(_ profile: CallgrindProfile, pushes: Int, versions: [String: String]) {
        func each(_ count: Int) -> Double { Double(count) / Double(max(1, pushes)) }
        instructions = each(profile.total)
        var (functions, parts) = ([String: Int](), [String: Int]())
        for (function, count) in profile.counts {
            functions[function.text, default: 0] += count
            let part = Part(object: function.object, symbol: function.name ?? "")
            parts[part.rawValue, default: 0] += count
        }
        let least = profile.total / 1_000
        self.functions = functions.filter { $0.value >= least }.mapValues { each($0).rounded() }
        self.parts = parts.mapValues { each($0).rounded() }
        self.versions = versions
    }

    /// The allowed growth, as a share of the recorded count.
    package static let tolerance = 0.05

    package func growth(since before: HotPathFigure) -> Double {
        before.instructions > 0 ? instructions / before.instructions - 1 : .infinity
    }

    package struct Growth: Sendable, Hashable {
        package let name: String
        package let before: Double
        package let now: Double

        var size: Double { now - before }
    }

    /// The functions whose instructions grew by at least a thousandth of the earlier total; the function with the largest growth
    /// comes first.
    package func grown(since other: HotPathFigure) -> [Growth] {
        let all = functions.map { name, now in
            Growth(name: name, before: other.functions[name] ?? 0, now: now)
        }
        let grown = all.filter { $0.size >= other.instructions / 1_000 }
        return grown.sorted { $0.size == $1.size ? $0.name < $1.name : $0.size > $1.size }
    }
}
