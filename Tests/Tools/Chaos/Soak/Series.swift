/// A series of values over time, with a check for growth.
package struct Series: Sendable {
    /// The unit of a series. The unit chooses the panel and the limit of growth.
    package enum Unit: String, Sendable, CaseIterable {
        case megabytes = "MB"
        case descriptors
        case entries

        /// The growth within a run that counts as noise.
        var noise: Double {
            switch self {
            case .megabytes: 1.5
            case .descriptors: 4
            case .entries: 200
            }
        }
    }

    package let name: String
    package let unit: Unit
    /// Times in seconds since the start, with their values.
    package private(set) var points: [(time: Double, value: Double)] = []

    init(_ name: String, _ unit: Unit) { (self.name, self.unit) = (name, unit) }

    mutating func add(_ value: Double, at time: Double) { points.append((time, value)) }

    /// The values without the first quarter, in which caches fill and processes page in.
    private var settled: ArraySlice<(time: Double, value: Double)> { points.dropFirst(points.count / 4) }

    package var median: Double { Self.median(settled.map(\.value)) }
    package var greatest: Double { points.map(\.value).max() ?? 0 }

    /// Growth an hour: the median of the slopes between all pairs of points, which is robust against outliers.
    package var slope: Double {
        let points = Array(settled)
        var slopes: [Double] = []
        for (index, point) in points.enumerated() {
            for other in points[(index + 1)...] where other.time > point.time {
                slopes.append((other.value - point.value) / (other.time - point.time))
            }
        }
        return Self.median(slopes) * 3600
    }

    /// Whether the series does not grow: over the run, the slope adds at most a tenth of the median, or at most the noise.
    package var isFlat: Bool {
        let span = (settled.last?.time ?? 0) - (settled.first?.time ?? 0)
        return slope * span / 3600 <= max(unit.noise, median / 10)
    }

    private static func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        return values.sorted()[values.count / 2]
    }
}
