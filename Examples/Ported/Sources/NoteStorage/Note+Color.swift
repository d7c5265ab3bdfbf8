// swift-format-ignore-file
//
//  Note+Color.swift
//  NoteStorage
//

import CoreData
#if canImport(UIKit)
import UIKit
#endif

extension Note {

    #if canImport(UIKit)
    /// The color of the note's row.
    public var color: UIColor {
        isPinned ? .systemYellow : .systemBackground
    }
    #endif
}
