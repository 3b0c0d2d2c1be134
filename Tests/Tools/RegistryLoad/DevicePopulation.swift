import RandomTesting
import Registry

/// Devices whose tags, zones and languages are unevenly distributed. A device's number determines its tags, zone and language.
struct DevicePopulation {
    struct Device {
        let number: Int
        let token: Int
    }

    private let tags: UnevenChoice
    private let zones: UnevenChoice
    private let languages: UnevenChoice

    init(tags: Int, zones: Int, languages: Int) {
        self.tags = UnevenChoice((0..<tags).map { "tag-\($0)" })
        self.zones = UnevenChoice((0..<zones).map { "Area/City-\($0)" })
        self.languages = UnevenChoice((0..<languages).map { "l\($0)" })
    }

    func input(_ device: Device) -> DeviceInput {
        var random = SplitMix(seed: UInt64(device.number))
        var token = SplitMix(seed: UInt64(device.token) ^ 0xA5A5)
        return .set(
            DeviceFields(
                id: "device\(device.number + 1_000_000_000)",
                addresses: [DeviceAddress(bytes: token.bytes(32))],
                user: "u\(device.number / 2 + 1_000_000)",
                tags: (0..<5).compactMap { _ in tags.draw(&random) }, zone: zones.draw(&random),
                lang: languages.draw(&random), platform: "ios", app: "4.1"))
    }
}

/// Draws texts at random. The first text is n times as frequent as the n-th text.
struct UnevenChoice {
    private let texts: [String]
    /// For each text, the sum of its weight and of the weights of all earlier texts. The n-th text has the weight 1/n.
    private let sums: [Double]

    init(_ texts: [String]) {
        self.texts = texts
        var sum = 0.0
        sums = texts.indices.map { index in
            sum += 1 / Double(index + 1)
            return sum
        }
    }

    /// Draws a text; nil if there is none.
    func draw(_ random: inout SplitMix) -> String? {
        guard let total = sums.last else { return nil }
        let point = Double(random.int(in: 0...(1 << 30))) / Double(1 << 30) * total
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < point { low = middle + 1 } else { high = middle }
        }
        return texts[low]
    }
}
