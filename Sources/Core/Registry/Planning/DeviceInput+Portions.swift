extension DeviceInput {
    /// The largest sum of weights of the inputs of one plan. A plan takes some 25 µs of Redis's time per unit of weight.
    /// Between the calls for two partitions, Redis serves other clients.
    private static let mostWeight = 1_200

    /// Whether the input can add to the memory that the registry needs.
    package var needsMemory: Bool {
        switch self {
        case .set, .change: true
        case .remove, .forget, .invalidate: false
        }
    }

    /// Divides inputs into consecutive parts, each of which one plan can carry out without blocking Redis for long. A part has at
    /// least one input.
    package static func portions(of inputs: [DeviceInput]) -> [Range<Int>] {
        var portions: [Range<Int>] = []
        var (start, weight) = (0, 0)
        for (index, input) in inputs.enumerated() {
            if index > start, weight + input.weight > mostWeight {
                portions.append(start..<index)
                (start, weight) = (index, 0)
            }
            weight += input.weight
        }
        if start < inputs.count { portions.append(start..<inputs.count) }
        return portions
    }

    /// How much work the input is: 1 for an ordinary device, more for a device with many tags or long addresses, and
    /// 200 for a user to forget.
    private var weight: Int {
        switch self {
        case .set(let fields):
            1 + fields.tags.count / 16 + fields.addresses.reduce(0) { $0 + $1.bytes.count } / 512
        case .change(_, let add, let remove): 1 + (add.count + remove.count) / 16
        case .remove, .invalidate: 1
        case .forget: 200
        }
    }
}
