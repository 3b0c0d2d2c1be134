/// The number of an edition, from 0 to 63.
package struct Edition: Hashable, Sendable {
    package let number: UInt8
}

/// The number of an ordered list of editions. Pushes with the same list have the same number.
package struct EditionList: Hashable, Sendable {
    package static let none = EditionList(number: 0)

    let number: UInt16
}

/// All editions that pushes have named, with the number of sends to each device, and the devices that are done.
package struct EditionTable: Sendable {
    package static let mostEditions = 64
    package static let mostLists = 4096
    package static let longestName = 256
    /// The greatest count of sends of an edition to one device. Further sends are not counted.
    package static let mostSends: UInt8 = 127
    private static let doneMark: UInt8 = 128

    /// The name of an edition, and counts of its devices.
    package struct Entry: Sendable {
        package let name: String
        /// The number of devices to which pushes of the edition were sent.
        package fileprivate(set) var devices = 0
        /// For each number of sends: the number of devices that were done after this number of sends.
        package fileprivate(set) var doneBySends = [Int](repeating: 0, count: Int(mostSends) + 1)
        /// For each device: the number of sends, and ``doneMark`` if the device is done.
        fileprivate var sends: [UInt8] = []

        package var done: Int { doneBySends.reduce(0, +) }
    }

    package private(set) var entries: [Entry] = []
    private var numbers: [String: UInt8] = [:]
    private var lists: [[Edition]] = [[]]
    private var listNumbers: [[Edition]: UInt16] = [[]: 0]

    /// Returns the number of a list of names. Unknown names become new editions.
    /// - Returns: nil if the table is full or a name is empty or too long.
    mutating func list(_ names: [String]) -> EditionList? {
        var editions: [Edition] = []
        for name in names {
            guard let edition = edition(name) else { return nil }
            if !editions.contains(edition) { editions.append(edition) }
        }
        if let number = listNumbers[editions] { return EditionList(number: number) }
        guard lists.count < Self.mostLists else { return nil }
        let number = UInt16(clamping: lists.count)
        lists.append(editions)
        listNumbers[editions] = number
        return EditionList(number: number)
    }

    private mutating func edition(_ name: String) -> Edition? {
        if let number = numbers[name] { return Edition(number: number) }
        guard entries.count < Self.mostEditions, (1...Self.longestName).contains(name.utf8.count) else {
            return nil
        }
        let number = UInt8(clamping: entries.count)
        entries.append(Entry(name: name))
        numbers[name] = number
        return Edition(number: number)
    }

    /// Counts a push to a device for each edition of the list that the device does not have.
    mutating func countSend(_ list: EditionList, to device: UInt32) {
        for edition in lists[Int(list.number)] {
            let entry = Int(edition.number)
            let missing = Int(device) + 1 - entries[entry].sends.count
            if missing > 0 { entries[entry].sends.append(contentsOf: repeatElement(0, count: missing)) }
            let sends = entries[entry].sends[Int(device)]
            if sends == 0 { entries[entry].devices += 1 }
            if sends < Self.mostSends { entries[entry].sends[Int(device)] = sends + 1 }
        }
    }

    /// The first edition of the list that the device does not have.
    func nextEdition(of list: EditionList, for device: UInt32) -> Edition? {
        lists[Int(list.number)].first { sends(of: $0, to: device) & Self.doneMark == 0 }
    }

    /// Notes that a device has the whole edition.
    /// - Returns: the number of sends of the edition to the device.
    mutating func finish(_ edition: Edition, by device: UInt32) -> UInt8 {
        let sends = sends(of: edition, to: device)
        entries[Int(edition.number)].sends[Int(device)] = sends | Self.doneMark
        entries[Int(edition.number)].doneBySends[Int(sends)] += 1
        return sends
    }

    private func sends(of edition: Edition, to device: UInt32) -> UInt8 {
        entries[Int(edition.number)].sends[checked: Int(device)] ?? 0
    }
}
